#include "core/importers/source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/importers/gzip_source.h"
#include "core/importers/peekable.h"
#include "core/importers/zstd_source.h"

namespace gpuprof {
namespace {

// A file or pipe as it is.
class FileBytes final : public ByteStream {
public:
    FileBytes(int fd, std::string name, std::uint64_t size) : fd_(fd), name_(std::move(name)), size_(size) {}
    ~FileBytes() override {
        if (fd_ != STDIN_FILENO) close(fd_);
    }
    FileBytes(const FileBytes&) = delete;
    FileBytes& operator=(const FileBytes&) = delete;

    Result<std::size_t> read(char* into, std::size_t size) override {
        std::size_t done = 0;
        while (done < size) {
            ssize_t got = ::read(fd_, into + done, size - done);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0)
                return Error{ExitCode::unreadable, fmt::format("{}: cannot be read: {}", name_, std::strerror(errno))};
            if (got == 0) break;
            done += static_cast<std::size_t>(got);
        }
        return done;
    }
    std::uint64_t plain_size() const override { return size_; }
    int plain_fd() const override { return size_ > 0 ? fd_ : -1; }

private:
    int fd_;
    std::string name_;
    std::uint64_t size_;
};

Result<std::unique_ptr<ByteStream>> open_bytes(const std::string& file) {
    if (file == "-") return std::unique_ptr<ByteStream>(std::make_unique<FileBytes>(STDIN_FILENO, file, 0));
    auto fail = [&](std::string_view why) { return Error{ExitCode::unreadable, fmt::format("{}: {}", file, why)}; };
    int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(errno == ENOENT ? "no such file" : fmt::format("cannot be opened: {}", std::strerror(errno)));
    struct stat status {};
    bool known = fstat(fd, &status) == 0;
    auto bytes = std::make_unique<FileBytes>(
        fd, file, known && S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0);
    if (known && S_ISDIR(status.st_mode)) return fail("is a directory; name the trace file in it");
    return std::unique_ptr<ByteStream>(std::move(bytes));
}

class MemoryBytes final : public ByteStream {
public:
    explicit MemoryBytes(std::string_view text) : rest_(text) {}
    Result<std::size_t> read(char* into, std::size_t size) override {
        std::size_t n = std::min(size, rest_.size());
        if (n > 0) std::memcpy(into, rest_.data(), n);
        rest_.remove_prefix(n);
        return n;
    }

private:
    std::string_view rest_;
};

// The source itself, or with a decompressor before it when its first bytes ask for one.
Result<std::unique_ptr<Source>> decoded(std::unique_ptr<PeekableSource> source) {
    if (Status status = source->fill(); !status) return status.error();
    std::string name = source->name();
    std::unique_ptr<ByteStream> bytes;
    if (is_gzip(source->head())) {
        bytes = open_gzip(std::move(source));
    } else if (is_zstd(source->head())) {
        bytes = open_zstd(std::move(source));
    } else {
        return std::unique_ptr<Source>(std::move(source));
    }
    auto decompressed = std::make_unique<PeekableSource>(std::move(name), std::move(bytes));
    if (Status status = decompressed->fill(); !status) return status.error();
    return std::unique_ptr<Source>(std::move(decompressed));
}

}  // namespace

Result<std::unique_ptr<Source>> open_source(const std::string& file) { return open_source(file, file); }

Result<std::unique_ptr<Source>> open_source(const std::string& file, const std::string& name) {
    Result<std::unique_ptr<ByteStream>> bytes = open_bytes(file);
    if (!bytes) return bytes.error();
    return decoded(std::make_unique<PeekableSource>(name, std::move(*bytes)));
}

Result<std::unique_ptr<Source>> memory_source(std::string name, std::string_view bytes) {
    return decoded(std::make_unique<PeekableSource>(std::move(name), std::make_unique<MemoryBytes>(bytes)));
}

}  // namespace gpuprof
