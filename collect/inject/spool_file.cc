#include "collect/inject/spool_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdio>
#include <cstring>

#include "core/base/clock.h"

namespace gpuprof::inject {
namespace {

void store_u32(char* to, std::uint32_t value) noexcept { std::memcpy(to, &value, sizeof value); }

std::uint32_t crc(std::uint32_t before, std::string_view bytes) noexcept {
    if (bytes.empty()) return before;  // zlib takes no bytes for a wish to begin anew
    return static_cast<std::uint32_t>(
        crc32_z(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

}  // namespace

bool SpoolFile::open(const char* folder) noexcept {
    char path[4096];
    int length = std::snprintf(path, sizeof path, "%s/%d-%lld.gpuprof", folder, static_cast<int>(getpid()),
                               static_cast<long long>(realtime_ns()));
    if (length < 0 || static_cast<std::size_t>(length) >= sizeof path) return false;
    fd_ = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_APPEND, 0600);
    if (fd_ < 0) return false;
    // Out of the way of programs that close or count on low descriptors.
    int high = fcntl(fd_, F_DUPFD_CLOEXEC, 200);
    if (high >= 0) {
        ::close(fd_);
        fd_ = high;
    }
    return true;
}

void SpoolFile::write(ChunkKind kind, std::string_view head, std::string_view body) noexcept {
    std::size_t size = head.size() + body.size();
    if (fd_ < 0 || failed_ || size > kMaxPayloadBytes) {
        ++unwritten_;
        return;
    }
    char header[kChunkHeaderBytes];
    std::memcpy(header, kChunkMagic.data(), kChunkMagic.size());
    store_u32(header + 8, static_cast<std::uint32_t>(kind));
    store_u32(header + 12, static_cast<std::uint32_t>(size));
    store_u32(header + 16, sequence_++);
    store_u32(header + 20, crc(crc(0, head), body));
    store_u32(header + 24, crc(0, {header, kChunkHeaderBytes - 4}));
    iovec parts[3] = {{header, sizeof header},
                      {const_cast<char*>(head.data()), head.size()},
                      {const_cast<char*>(body.data()), body.size()}};
    std::size_t whole = sizeof header + size;
    ssize_t written = 0;
    do written = writev(fd_, parts, 3);
    while (written < 0 && errno == EINTR);
    // A short write is finished piece by piece; only a full disk or a broken one ends it.
    for (std::size_t done = written < 0 ? 0 : static_cast<std::size_t>(written); written >= 0 && done < whole;) {
        std::size_t skip = done;
        const iovec* part = parts;
        while (skip >= part->iov_len) skip -= part->iov_len, ++part;
        if (!put(static_cast<const char*>(part->iov_base) + skip, part->iov_len - skip)) written = -1;
        done += part->iov_len - skip;
    }
    if (written < 0) {
        failed_ = true;
        ++unwritten_;
    }
}

bool SpoolFile::put(const char* bytes, std::size_t size) noexcept {
    while (size > 0) {
        ssize_t written = ::write(fd_, bytes, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes += written;
        size -= static_cast<std::size_t>(written);
    }
    return true;
}

}  // namespace gpuprof::inject
