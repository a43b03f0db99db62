// Files that are read together: how often each of them is looked at.
#include "io/importers/open_trace.h"

#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <fstream>
#include <map>

#include "core/base/files/temporary_file.h"

namespace gpuprof {
namespace {

// Counts how often the files of a folder are opened from now on, by their names.
class Openings {
public:
    explicit Openings(const std::string& folder) : fd_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
        inotify_add_watch(fd_, folder.c_str(), IN_OPEN);
    }
    ~Openings() { close(fd_); }
    Openings(const Openings&) = delete;
    Openings& operator=(const Openings&) = delete;

    std::map<std::string, int> count() const {
        std::map<std::string, int> found;
        alignas(inotify_event) char bytes[16384];
        ssize_t got = read(fd_, bytes, sizeof bytes);
        for (ssize_t at = 0; at < got;) {
            const auto* event = reinterpret_cast<const inotify_event*>(bytes + at);
            if (event->len > 0) ++found[event->name];
            at += static_cast<ssize_t>(sizeof *event + event->len);
        }
        return found;
    }

private:
    int fd_;
};

TEST(Several, EachFileOfAFolderIsOpenedOnce) {
    Result<TemporaryFolder> folder = TemporaryFolder::make();
    ASSERT_TRUE(folder.ok());
    std::ofstream(folder->path() + "/one.json") << R"({"schemaVersion": 1, "traceEvents": [
        {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 2, "args": {"device": 0, "stream": 7}}]})";
    std::ofstream(folder->path() + "/notes.txt") << "nothing that a tool wrote\n";
    std::ofstream(folder->path() + "/empty") << "";
    Openings openings(folder->path());
    Result<Trace> trace = open_trace(folder->path());
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_EQ(trace->kernel().rows, 1u);
    EXPECT_EQ(openings.count(), (std::map<std::string, int>{{"one.json", 1}, {"notes.txt", 1}, {"empty", 1}}));
}

}  // namespace
}  // namespace gpuprof
