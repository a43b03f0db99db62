#include "core/base/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gpuprof::inline base {

Result<std::string> read_whole_file(const std::string& path, std::uint64_t most_bytes) {
    auto fail = [&](std::string_view why) {
        return Error{ExitCode::unreadable, fmt::format("cannot read {}: {}", path, why)};
    };
    // Non-blocking: a pipe would wait for a writer.
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return fail(std::strerror(errno));
    struct Closed {
        int fd;
        ~Closed() { ::close(fd); }
    } closed{fd};
    struct stat about {};
    if (fstat(fd, &about) != 0) return fail(std::strerror(errno));
    if (!S_ISREG(about.st_mode))
        return fail(S_ISDIR(about.st_mode) ? std::strerror(EISDIR) : "it is not a regular file");
    if (static_cast<std::uint64_t>(about.st_size) > most_bytes)
        return fail(fmt::format("it has more than {} MiB", most_bytes >> 20));
    std::string bytes(static_cast<std::size_t>(about.st_size), '\0');
    for (std::size_t done = 0; done < bytes.size();) {
        ssize_t got = ::read(fd, bytes.data() + done, bytes.size() - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail(std::strerror(errno));
        if (got == 0) bytes.resize(done);  // it became shorter
        done += static_cast<std::size_t>(got);
    }
    return bytes;
}

}  // namespace gpuprof::base
