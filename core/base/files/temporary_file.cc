#include "core/base/files/temporary_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/base/caught.h"

namespace gpuprof::inline base {
namespace {

Error failed(std::string_view path, std::string_view why) {
    return {ExitCode::unreadable,
            fmt::format("cannot create or write {}: {}; set TMPDIR to another folder", path, why)};
}

std::string temporary_folder() {
    const char* folder = std::getenv("TMPDIR");
    return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

std::string pattern_in(const std::string& folder) { return folder + "/gpu-profile-XXXXXX"; }

}  // namespace

// File systems that do not support unnamed files create a named one, which is removed at once.
int open_nameless_file(const std::string& folder) {
    int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) return fd;
    std::string path = pattern_in(folder);
    fd = mkostemp(path.data(), O_CLOEXEC);
    if (fd >= 0) unlink(path.c_str());
    return fd;
}

Result<TemporaryFile> TemporaryFile::make() {
    int fd = open_nameless_file(temporary_folder());
    if (fd < 0) return failed("a file in " + temporary_folder(), std::strerror(errno));
    return TemporaryFile(fmt::format("/proc/self/fd/{}", fd), fd);
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

TemporaryFile::~TemporaryFile() {
    if (fd_ >= 0) close(fd_);
}

Status TemporaryFile::write(std::string_view bytes) {
    while (!bytes.empty()) {
        ssize_t wrote = ::write(fd_, bytes.data(), bytes.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return failed("a file in " + temporary_folder(), wrote < 0 ? std::strerror(errno) : "no room");
        bytes.remove_prefix(static_cast<std::size_t>(wrote));
    }
    return {};
}

Result<TemporaryFolder> TemporaryFolder::make() {
    std::string path = pattern_in(temporary_folder());
    if (mkdtemp(path.data()) == nullptr) return failed(path, std::strerror(errno));
    return TemporaryFolder(std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) (void)caught([&] { std::filesystem::remove_all(path_, ignored); });
}

}  // namespace gpuprof::base
