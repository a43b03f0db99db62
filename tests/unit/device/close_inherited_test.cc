// A started process inherits no descriptor of ours, with the function of glibc 2.34 and with the substitute for older ones.
#include "collect/device/close_inherited.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace gpuprof {
namespace {

// Whether descriptor `fd` is open in a shell started with the actions that `close` adds.
bool inherits(int fd, void (*close)(posix_spawn_file_actions_t&, int)) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    close(actions, 3);
    std::string script = "test -e /proc/self/fd/" + std::to_string(fd);
    char shell[] = "sh", flag[] = "-c";
    char* argv[] = {shell, flag, script.data(), nullptr};
    pid_t child = -1;
    EXPECT_EQ(posix_spawn(&child, "/bin/sh", &actions, nullptr, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(CloseInherited, NothingFromTheFirstOnIsInherited) {
    int high = fcntl(STDIN_FILENO, F_DUPFD, 300);
    ASSERT_GE(high, 300);
    EXPECT_TRUE(inherits(high, [](posix_spawn_file_actions_t&, int) {}));
    EXPECT_FALSE(inherits(high, close_from));
    EXPECT_FALSE(inherits(high, close_listed_from));
    EXPECT_NE(fcntl(high, F_GETFD), -1) << "the caller's descriptor stays open";
    EXPECT_EQ(fcntl(high, F_GETFD) & FD_CLOEXEC, 0);
    close(high);
}

}  // namespace
}  // namespace gpuprof
