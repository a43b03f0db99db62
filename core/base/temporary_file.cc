#include "core/base/temporary_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace gpuprof {
namespace {

Error failed(std::string_view path, std::string_view why) {
    return {ExitCode::unreadable,
            fmt::format("{} cannot be made or written: {}; TMPDIR names another folder", path, why)};
}

std::string pattern() {
    const char* folder = std::getenv("TMPDIR");
    return fmt::format("{}/gpu-profile-XXXXXX", folder != nullptr && *folder != '\0' ? folder : "/tmp");
}

}  // namespace

Result<TemporaryFile> TemporaryFile::make() {
    std::string path = pattern();
    int fd = mkostemp(path.data(), O_CLOEXEC);
    if (fd < 0) return failed(path, std::strerror(errno));
    return TemporaryFile(std::move(path), fd);
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

TemporaryFile::~TemporaryFile() {
    if (fd_ < 0) return;
    close(fd_);
    unlink(path_.c_str());
}

Status TemporaryFile::write(std::string_view bytes) {
    while (!bytes.empty()) {
        ssize_t wrote = ::write(fd_, bytes.data(), bytes.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return failed(path_, wrote < 0 ? std::strerror(errno) : "no room");
        bytes.remove_prefix(static_cast<std::size_t>(wrote));
    }
    return {};
}

Result<TemporaryFolder> TemporaryFolder::make() {
    std::string path = pattern();
    if (mkdtemp(path.data()) == nullptr) return failed(path, std::strerror(errno));
    return TemporaryFolder(std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace gpuprof
