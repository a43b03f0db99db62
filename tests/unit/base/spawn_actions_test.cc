// A started process inherits no descriptor of ours, with the function of glibc 2.34 and with the substitute for older ones.
#include "core/base/spawn_actions.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cerrno>

namespace gpuprof {
namespace {

// Whether descriptor `fd` is open in a shell started with the actions that `add` adds.
template <class Add>
bool inherits(int fd, Add&& add) {
    SpawnActions actions;
    add(actions);
    pid_t child = -1;
    EXPECT_EQ(actions.spawn(child, "/bin/sh", {"sh", "-c", "test -e /proc/self/fd/" + std::to_string(fd)}), 0);
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class InheritedDescriptor : public testing::Test {
protected:
    void SetUp() override { ASSERT_GE(high_, 300); }
    void TearDown() override { close(high_); }
    int high_ = fcntl(STDIN_FILENO, F_DUPFD, 300);
};

TEST_F(InheritedDescriptor, NothingFromTheFirstOnIsInherited) {
    EXPECT_TRUE(inherits(high_, [](SpawnActions&) {}));
    EXPECT_FALSE(inherits(high_, [](SpawnActions& actions) { actions.close_from(3); }));
    EXPECT_FALSE(inherits(high_, [](SpawnActions& actions) { actions.close_listed_from(3); }));
    EXPECT_NE(fcntl(high_, F_GETFD), -1) << "the caller's descriptor stays open";
    EXPECT_EQ(fcntl(high_, F_GETFD) & FD_CLOEXEC, 0);
}

// glibc adds no action for a descriptor above the limit, so the process would inherit it.
TEST_F(InheritedDescriptor, ADescriptorThatCannotBeClosedStartsNothing) {
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit low{256, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
    SpawnActions actions;
    actions.close_listed_from(3);
    pid_t child = -1;
    EXPECT_EQ(actions.spawn(child, "/bin/true", {"true"}), EBADF);
    EXPECT_EQ(child, -1);
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace gpuprof
