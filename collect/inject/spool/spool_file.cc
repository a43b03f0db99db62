#include "collect/inject/spool/spool_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "core/base/clock.h"

namespace gpuprof::inject {
namespace {

constexpr int kMaxWriteFailures = 8;
constexpr std::int64_t kRetryAfter = 1'000'000'000;

void store_u32(char* to, std::uint32_t value) noexcept { std::memcpy(to, &value, sizeof value); }

std::uint32_t crc(std::uint32_t before, std::string_view bytes) noexcept {
    if (bytes.empty()) return before;  // zlib treats an empty input as a request to start over
    return static_cast<std::uint32_t>(
        crc32_z(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

// The lowest number for our descriptor. Near the end of the program's table, because programs get the lowest free
// number, but not so far that the kernel's table grows: each fork() copies it.
int high_number() noexcept {
    constexpr rlim_t kTable = 4096, kRoom = 64, kLowest = 200;
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return static_cast<int>(kLowest);
    rlim_t end = std::min(limit.rlim_cur, kTable);
    return static_cast<int>(end > kLowest + kRoom ? end - kRoom : std::min(end / 2, kLowest));
}

}  // namespace

bool SpoolFile::is_ours(int fd) const noexcept {
    struct stat about {};
    return fd >= 0 && fstat(fd, &about) == 0 && about.st_dev == device_ && about.st_ino == inode_;
}

// Takes over a descriptor of the file and moves it away from programs that close or count on low numbers.
bool SpoolFile::adopt(int fd) noexcept {
    int high = fcntl(fd, F_DUPFD_CLOEXEC, high_number());
    fd_ = high >= 0 ? high : fd;
    if (high >= 0 && is_ours(fd)) ::close(fd);
    return is_ours(fd_);
}

// Whether fd_ refers to the file, after reopening it if necessary.
bool SpoolFile::holds() noexcept {
    if (fd_ < 0 || is_ours(fd_)) return fd_ >= 0;
    int fd = ::open(path_, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_APPEND);
    if (is_ours(fd) && adopt(fd)) return true;
    fd_ = -1;
    return false;
}

void SpoolFile::forget() noexcept {
    if (is_ours(fd_)) ::close(fd_);
    fd_ = -1;
}

bool SpoolFile::path_of(char (&path)[kPathBytes], const char* folder, std::int64_t time) noexcept {
    int length = std::snprintf(path, sizeof path, "%s/%d-%lld.gpuprof", folder, static_cast<int>(getpid()),
                               static_cast<long long>(time));
    return length >= 0 && static_cast<std::size_t>(length) < sizeof path;
}

bool SpoolFile::open(const char* folder) noexcept {
    std::int64_t time = std::max<std::int64_t>(realtime_ns(), created_at_ + 1);  // the clock may have been set back
    if (!path_of(path_, folder, time)) return false;
    int fd = ::open(path_, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_APPEND, 0600);
    struct stat about {};
    if (fd < 0) return false;
    if (fstat(fd, &about) != 0) {
        ::close(fd);
        return false;
    }
    device_ = about.st_dev;
    inode_ = about.st_ino;
    created_at_ = time;
    return adopt(fd);
}

bool SpoolFile::next(const char* folder, bool keep) noexcept {
    SpoolFile old;
    old.fd_ = fd_;
    old.device_ = device_;
    old.inode_ = inode_;
    old.sequence_ = sequence_;
    old.written_bytes_ = written_bytes_;
    std::memcpy(old.path_, path_, sizeof path_);
    if (!open(folder)) {
        fd_ = old.fd_;
        device_ = old.device_;
        inode_ = old.inode_;
        std::memcpy(path_, old.path_, sizeof path_);
        return false;
    }
    old.write(ChunkKind::end, {});
    old.forget();
    unwritten_ += old.unwritten_;
    if (!keep && before_[0] != '\0') unlink(before_);
    std::memcpy(before_, old.path_, sizeof before_);
    sequence_ = 0;
    written_bytes_ = 0;
    failures_ = 0;
    return true;
}

void SpoolFile::remove_if_empty() noexcept {
    if (fd_ >= 0 && empty()) unlink(path_);
}

// On a full disk each attempt costs writing what still fits, so after several failures writing pauses for a while.
bool SpoolFile::should_retry(ChunkKind kind) const noexcept {
    if (failures_ < kMaxWriteFailures || kind == ChunkKind::spool_lost || kind == ChunkKind::end) return true;
    return monotonic_ns() - failed_at_ >= kRetryAfter;
}

bool SpoolFile::write(ChunkKind kind, std::string_view head, std::string_view body) noexcept {
    std::size_t size = head.size() + body.size();
    bool hides_losses = kind == ChunkKind::end && unwritten_ != reported_;
    if (hides_losses || size > kMaxPayloadBytes || !should_retry(kind) || !holds()) {
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
        if (kind == ChunkKind::spool_lost) reported_ = unwritten_;
        return true;
    }
    ++unwritten_;
    ++failures_;
    failed_at_ = monotonic_ns();
    // If a partial chunk cannot be removed, readers detect it by its missing number.
    if (!is_ours(fd_) || ftruncate(fd_, static_cast<off_t>(written_bytes_)) != 0) ++sequence_;
    return false;
}

// Whether everything was written; a short write is continued.
bool SpoolFile::put_all(const iovec* parts, int count, std::size_t whole) noexcept {
    ssize_t written = 0;
    do written = writev(fd_, parts, count);
    while (written < 0 && errno == EINTR);
    if (written < 0) return false;
    for (std::size_t done = static_cast<std::size_t>(written); done < whole;) {
        std::size_t skip = done;
        const iovec* part = parts;
        while (skip >= part->iov_len) {
            skip -= part->iov_len;
            ++part;
        }
        if (!put(static_cast<const char*>(part->iov_base) + skip, part->iov_len - skip)) return false;
        done += part->iov_len - skip;
    }
    return true;
}

bool SpoolFile::put(const char* bytes, std::size_t size) noexcept {
    while (size > 0) {
        if (!is_ours(fd_)) return false;
        ssize_t written = ::write(fd_, bytes, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes += written;
        size -= static_cast<std::size_t>(written);
    }
    return true;
}

}  // namespace gpuprof::inject
