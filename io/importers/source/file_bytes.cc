// Opens nothing that could block forever or never end. Devices are rejected: opening some has side effects, and
// /dev/zero is endless. A named pipe is opened without waiting for its writer, and every wait has a limit. Other names
// of standard input (/dev/stdin) are read like standard input: they may wait without a limit.
#include "io/importers/source/byte_stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "io/importers/source/reading_progress.h"

namespace gpuprof::inline importers {
namespace {

constexpr double kNoLimit = -1;

class FileBytes final : public ByteStream {
public:
    FileBytes(int fd, std::string name, std::uint64_t size, double wait_s)
        : fd_(fd), name_(std::move(name)), size_(size), wait_s_(wait_s) {
        reading().size += size_;
        ++reading().open;
    }
    ~FileBytes() override {
        --reading().open;
        if (fd_ != STDIN_FILENO) close(fd_);
    }
    FileBytes(const FileBytes&) = delete;
    FileBytes& operator=(const FileBytes&) = delete;

    Result<std::size_t> read(char* into, std::size_t size) override {
        std::size_t done = 0;
        while (done < size) {
            if (Status ready = wait(); !ready) return ready.error();
            ssize_t got = ::read(fd_, into + done, size - done);
            if (got < 0 && (errno == EINTR || (errno == EAGAIN && wait_s_ >= 0))) continue;
            if (got < 0)
                return Error{ExitCode::unreadable, fmt::format("cannot read {}: {}", name_, std::strerror(errno))};
            if (got == 0) break;
            done += static_cast<std::size_t>(got);
        }
        read_.fetch_add(done, std::memory_order_relaxed);
        if (size_ > 0) reading().read.fetch_add(done, std::memory_order_relaxed);
        return done;
    }
    std::uint64_t plain_size() const override { return size_; }
    int plain_fd() const override { return size_ > 0 ? fd_ : -1; }
    std::uint64_t own_bytes() const override { return std::max(size_, read_.load(std::memory_order_relaxed)); }

private:
    // Waits until there is something to read, or the end.
    Status wait() const {
        if (wait_s_ < 0) return {};
        pollfd waited{fd_, POLLIN, 0};
        int ready = 0;
        do ready = poll(&waited, 1, static_cast<int>(std::min(wait_s_ * 1000, 1e9)));
        while (ready < 0 && errno == EINTR);
        if (ready != 0) return {};
        return Error{
            ExitCode::unreadable,
            fmt::format("cannot read {}: no data from the pipe for {} s; raise the limit with --pipe-wait, or use - "
                        "(standard input), which has no limit",
                        name_, wait_s_)};
    }

    int fd_;
    std::string name_;
    std::uint64_t size_;
    double wait_s_;
    std::atomic<std::uint64_t> read_ = 0;
};

bool is_device(const struct stat& status) { return S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode); }

// Whether the file is another name of standard input; a regular file is itself, read from its beginning.
bool is_standard_input(const struct stat& status) {
    struct stat input {};
    return !S_ISREG(status.st_mode) && fstat(STDIN_FILENO, &input) == 0 && input.st_dev == status.st_dev &&
           input.st_ino == status.st_ino;
}

Result<std::unique_ptr<ByteStream>> standard_input(const std::string& name) {
    struct stat status {};
    if (fstat(STDIN_FILENO, &status) == 0 && is_device(status) && isatty(STDIN_FILENO) == 0)
        return Error{ExitCode::unreadable,
                     fmt::format("cannot read {}: standard input is a device; pipe a file into it", name)};
    return std::unique_ptr<ByteStream>(std::make_unique<FileBytes>(STDIN_FILENO, name, 0, kNoLimit));
}

// In /proc, /sys and the like: reading some waits for ever, or takes what another reader waits for.
bool is_of_kernel(const std::string& file) {
    struct statfs system {};
    if (statfs(file.c_str(), &system) != 0) return false;
    for (auto kind : {PROC_SUPER_MAGIC, SYSFS_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC})
        if (static_cast<std::uint64_t>(system.f_type) == static_cast<std::uint64_t>(kind)) return true;
    return false;
}

}  // namespace

Result<std::unique_ptr<ByteStream>> open_file_bytes(const std::string& file, const ReadLimits& limits) {
    if (file == "-") return standard_input(file);
    auto fail = [&](std::string_view why) {
        return Error{ExitCode::unreadable, fmt::format("cannot read {}: {}", file, why)};
    };
    struct stat status {};
    if (stat(file.c_str(), &status) != 0) return fail(errno == ENOENT ? "no such file" : std::strerror(errno));
    if (S_ISDIR(status.st_mode)) return fail("it is a directory; name the trace file in it");
    if (is_standard_input(status)) return standard_input(file);
    if (is_device(status)) return fail("it is a device; name a file, or - for standard input");
    if (S_ISSOCK(status.st_mode)) return fail("it is a socket; name a file, or - for standard input");
    bool pipe = S_ISFIFO(status.st_mode);
    if (!pipe && is_of_kernel(file)) return fail("it is a device of the kernel, not a recording");
    int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | (pipe ? O_NONBLOCK : 0));
    if (fd < 0) return fail(std::strerror(errno));
    auto size = S_ISREG(status.st_mode) && fstat(fd, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
    return std::unique_ptr<ByteStream>(std::make_unique<FileBytes>(fd, file, size, pipe ? limits.pipe_wait : kNoLimit));
}

}  // namespace gpuprof::importers
