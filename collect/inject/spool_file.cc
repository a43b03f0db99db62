#include "collect/inject/spool_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdio>
#include <cstring>
#include <utility>

#include "core/base/clock.h"

namespace gpuprof::inject {
namespace {

constexpr int kPatience = 8;
constexpr std::int64_t kRetryAfter = 1'000'000'000;

void store_u32(char* to, std::uint32_t value) noexcept { std::memcpy(to, &value, sizeof value); }

std::uint32_t crc(std::uint32_t before, std::string_view bytes) noexcept {
    if (bytes.empty()) return before;  // zlib takes no bytes for a wish to begin anew
    return static_cast<std::uint32_t>(
        crc32_z(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

}  // namespace

bool SpoolFile::open(const char* folder) noexcept {
    int length = std::snprintf(path_, sizeof path_, "%s/%d-%lld.gpuprof", folder, static_cast<int>(getpid()),
                               static_cast<long long>(realtime_ns()));
    if (length < 0 || static_cast<std::size_t>(length) >= sizeof path_) return false;
    fd_ = ::open(path_, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_APPEND, 0600);
    if (fd_ < 0) return false;
    // Out of the way of programs that close or count on low descriptors.
    int high = fcntl(fd_, F_DUPFD_CLOEXEC, 200);
    if (high >= 0) {
        ::close(fd_);
        fd_ = high;
    }
    return true;
}

bool SpoolFile::next(const char* folder) noexcept {
    int fd = fd_;
    char old[sizeof path_];
    std::memcpy(old, path_, sizeof old);
    if (!open(folder)) {
        fd_ = fd;
        std::memcpy(path_, old, sizeof old);
        return false;
    }
    std::swap(fd_, fd);
    write(ChunkKind::end, {});
    std::swap(fd_, fd);
    ::close(fd);
    if (before_[0] != '\0') unlink(before_);
    std::memcpy(before_, old, sizeof old);
    sequence_ = 0;
    written_bytes_ = 0;
    failures_ = 0;
    return true;
}

void SpoolFile::remove_if_empty() noexcept {
    if (fd_ >= 0 && empty()) unlink(path_);
}

// On a full disk each try costs writing what still fits; after some failures it is left alone for a while.
bool SpoolFile::worth_trying(ChunkKind kind) const noexcept {
    if (failures_ < kPatience || kind == ChunkKind::spool_lost || kind == ChunkKind::end) return true;
    return monotonic_ns() - failed_at_ >= kRetryAfter;
}

bool SpoolFile::write(ChunkKind kind, std::string_view head, std::string_view body) noexcept {
    std::size_t size = head.size() + body.size();
    if (fd_ < 0 || size > kMaxPayloadBytes || !worth_trying(kind)) {
        ++unwritten_;
        return false;
    }
    char header[kChunkHeaderBytes];
    std::memcpy(header, kChunkMagic.data(), kChunkMagic.size());
    store_u32(header + 8, static_cast<std::uint32_t>(kind));
    store_u32(header + 12, static_cast<std::uint32_t>(size));
    store_u32(header + 16, sequence_);
    store_u32(header + 20, crc(crc(0, head), body));
    store_u32(header + 24, crc(0, {header, kChunkHeaderBytes - 4}));
    iovec parts[3] = {{header, sizeof header},
                      {const_cast<char*>(head.data()), head.size()},
                      {const_cast<char*>(body.data()), body.size()}};
    std::size_t whole = sizeof header + size;
    if (put_all(parts, 3, whole)) {
        ++sequence_;
        written_bytes_ += whole;
        failures_ = 0;
        return true;
    }
    ++unwritten_, ++failures_;
    failed_at_ = monotonic_ns();
    // A part of a chunk that cannot be taken back is found by readers, who miss its number.
    if (ftruncate(fd_, static_cast<off_t>(written_bytes_)) != 0) ++sequence_;
    return false;
}

// Whether all of it was written; a short write is finished piece by piece.
bool SpoolFile::put_all(const iovec* parts, int count, std::size_t whole) noexcept {
    ssize_t written = 0;
    do written = writev(fd_, parts, count);
    while (written < 0 && errno == EINTR);
    if (written < 0) return false;
    for (std::size_t done = static_cast<std::size_t>(written); done < whole;) {
        std::size_t skip = done;
        const iovec* part = parts;
        while (skip >= part->iov_len) skip -= part->iov_len, ++part;
        if (!put(static_cast<const char*>(part->iov_base) + skip, part->iov_len - skip)) return false;
        done += part->iov_len - skip;
    }
    return true;
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
