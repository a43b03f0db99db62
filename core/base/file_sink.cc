#include "core/base/file_sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace gpuprof {

Result<FileSink> FileSink::open(const std::string& file) {
    if (file == "-") return FileSink("standard output", STDOUT_FILENO);
    int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd >= 0) return FileSink(file, fd);
    ExitCode code = errno == EACCES || errno == EPERM ? ExitCode::not_permitted : ExitCode::usage;
    return Error{code, fmt::format("cannot write {}: {}", file, std::strerror(errno))};
}

FileSink::FileSink(FileSink&& other) noexcept
    : Sink(std::move(other)), name_(std::move(other.name_)), fd_(std::exchange(other.fd_, -1)), error_(other.error_) {}

FileSink::~FileSink() {
    if (fd_ > STDERR_FILENO) ::close(fd_);
}

void FileSink::put(std::string_view bytes) {
    while (!bytes.empty() && error_ == 0) {
        ssize_t written = ::write(fd_, bytes.data(), bytes.size());
        if (written >= 0)
            bytes.remove_prefix(static_cast<std::size_t>(written));
        else if (errno != EINTR)
            error_ = errno;
    }
}

Status FileSink::close() {
    flush();
    if (fd_ > STDERR_FILENO && ::close(std::exchange(fd_, -1)) != 0 && error_ == 0) error_ = errno;
    if (error_ == 0 || error_ == EPIPE) return {};
    return Error{ExitCode::internal, fmt::format("cannot write {}: {}", name_, std::strerror(error_))};
}

}  // namespace gpuprof
