#include "compare/history_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "core/base/files/output_file.h"
#include "core/base/ownership.h"

namespace gpuprof::compare {
namespace {

constexpr std::chrono::milliseconds kWait{10'000}, kPause{20};  // for others who have the file locked
constexpr std::size_t kMaxBytes = std::size_t{256} << 20;       // some 100,000 runs
constexpr off_t kLockBegin = 0x40000000, kLockBytes = 512;      // documented in SQLite's file format

Error refused(const std::string& path, std::string_view why) {
    return {ExitCode::unreadable, fmt::format("cannot use {}: {}; choose another with --db", path, why)};
}

std::string folder_of(const std::string& path) {
    std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

Result<OutputFile> written(const std::string& path, const std::string& bytes,
                           const std::function<void(const std::string&)>& announce) {
    Result<OutputFile> file = OutputFile::open(path, {.owner_only = true, .in_place = false, .announce = announce});
    if (!file.ok())
        return Error{file.error().code == ExitCode::usage ? ExitCode::not_permitted : file.error().code,
                     fmt::format("{}; choose another place with --db", file.error().message)};
    for (std::size_t done = 0; done < bytes.size();) {
        ssize_t wrote = write(file->fd(), bytes.data() + done, bytes.size() - done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return file->failure(errno);
        done += static_cast<std::size_t>(wrote);
    }
    return file;
}

}  // namespace

HistoryFile::HistoryFile(HistoryFile&& other) noexcept
    : path_(std::move(other.path_)), bytes_(std::move(other.bytes_)), fd_(std::exchange(other.fd_, -1)) {}

HistoryFile& HistoryFile::operator=(HistoryFile&& other) noexcept {
    path_.swap(other.path_);
    bytes_.swap(other.bytes_);
    std::swap(fd_, other.fd_);
    return *this;
}

HistoryFile::~HistoryFile() {
    if (fd_ >= 0) close(fd_);
}

Result<std::optional<HistoryFile>> HistoryFile::open(const std::string& path, Access access) {
    const auto deadline = std::chrono::steady_clock::now() + kWait;
    while (true) {
        // Non-blocking: a pipe would wait for a writer.
        int fd = ::open(path.c_str(), (access == Access::read ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0 && errno == ENOENT) return std::optional<HistoryFile>();
        struct stat found {};
        if (fd >= 0 && fstat(fd, &found) != 0) {  // whose file it is would be unknown
            Error unknown{ExitCode::unreadable, fmt::format("cannot read {}: {}", path, std::strerror(errno))};
            close(fd);
            return unknown;
        }
        if ((fd < 0 && errno == EISDIR) || (fd >= 0 && !S_ISREG(found.st_mode))) {
            if (fd >= 0) close(fd);
            return Error{ExitCode::unreadable,
                         fmt::format("cannot read {}: no such file; choose a history with --db", path)};
        }
        if (fd < 0)
            return Error{ExitCode::not_permitted, fmt::format("cannot open {}: {}; choose another history with --db",
                                                              path, std::strerror(errno))};
        HistoryFile file(path, fd);
        if (Status mine = file.check_owner(found); !mine.ok()) return mine.error();
        if (Status locked = file.lock(access, deadline); !locked.ok()) return locked.error();
        if (access == Access::replace && !file.has_its_name()) continue;  // replaced while this process waited
        if (Status whole = file.check_journals(); !whole.ok()) return whole.error();
        if (fstat(fd, &found) != 0)
            return Error{ExitCode::unreadable, fmt::format("cannot read {}: {}", path, std::strerror(errno))};
        if (static_cast<std::size_t>(found.st_size) > kMaxBytes)
            return refused(path, fmt::format("it has more than {} MiB, unlike a history", kMaxBytes >> 20));
        if (Status read = file.read(static_cast<std::size_t>(found.st_size)); !read.ok()) return read.error();
        return std::optional<HistoryFile>(std::move(file));
    }
}

Status HistoryFile::lock(Access access, std::chrono::steady_clock::time_point deadline) const {
    struct flock wanted {};
    wanted.l_type = access == Access::read ? F_RDLCK : F_WRLCK;
    wanted.l_whence = SEEK_SET;
    wanted.l_start = kLockBegin;
    wanted.l_len = kLockBytes;
    while (fcntl(fd_, F_OFD_SETLK, &wanted) != 0) {
        if (errno == EINTR) continue;
        if (errno != EAGAIN && errno != EACCES)
            return Error{ExitCode::not_permitted, fmt::format("cannot lock {}: {}; choose another history with --db",
                                                              path_, std::strerror(errno))};
        if (std::chrono::steady_clock::now() >= deadline)
            return Error{ExitCode::not_permitted,
                         fmt::format("cannot open {}: locked by another process for {} s; try again", path_,
                                     kWait.count() / 1000)};
        std::this_thread::sleep_for(kPause);
    }
    return {};
}

bool HistoryFile::has_its_name() const {
    struct stat here {
    }, named{};
    return fstat(fd_, &here) == 0 && stat(path_.c_str(), &named) == 0 && here.st_ino == named.st_ino &&
           here.st_dev == named.st_dev;
}

// Who can write to the folder can put a file of any content there, and the user who made a link chose the file.
Status HistoryFile::check_owner(const struct stat& file) const {
    struct stat folder {
    }, link{};
    if (lstat(path_.c_str(), &link) == 0 && !is_ours(link) && S_ISLNK(link.st_mode))
        return refused(path_, fmt::format("it is a link of another user ({})", link.st_uid));
    if (is_ours(file)) return {};
    if (stat(folder_of(path_).c_str(), &folder) != 0 || (folder.st_mode & 0022) == 0) return {};
    return refused(path_,
                   fmt::format("it belongs to another user ({}), in a folder that others can write to", file.st_uid));
}

// This program makes none since it replaces histories whole: one is of an earlier version or of another program that was killed, or it was
// put there. Only the one who knows which may let SQLite act on it.
Status HistoryFile::check_journals() const {
    char real[PATH_MAX];
    const std::string whole = realpath(path_.c_str(), real) != nullptr ? real : path_;
    for (const char* suffix : {"-journal", "-wal"}) {
        struct stat found {};
        const std::string name = whole + suffix;
        if (lstat(name.c_str(), &found) != 0 || (S_ISREG(found.st_mode) && found.st_size == 0)) continue;
        return Error{
            ExitCode::unreadable,
            is_ours(found)
                ? fmt::format(
                      "cannot use {}: {} tells of a change that was interrupted; if you know it, let sqlite3 undo the "
                      "change ('sqlite3 {} .tables'), else delete it",
                      path_, name, path_)
                : fmt::format(
                      "cannot use {}: {} belongs to another user ({}), and SQLite would act on what it says; delete it",
                      path_, name, found.st_uid)};
    }
    return {};
}

Status HistoryFile::read(std::size_t size) {
    bytes_.resize(size);
    for (std::size_t done = 0; done < size;) {
        ssize_t got = pread(fd_, bytes_.data() + done, size - done, static_cast<off_t>(done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return Error{ExitCode::unreadable, fmt::format("cannot read {}: {}", path_, std::strerror(errno))};
        // Less than a database may look like a new one, which the next addition would write over it.
        if (got == 0)
            return Error{ExitCode::unreadable,
                         fmt::format("cannot read {}: it became shorter while it was read; try again", path_)};
        done += static_cast<std::size_t>(got);
    }
    return {};
}

Status HistoryFile::make(const std::string& path, const std::string& bytes,
                         const std::function<void(const std::string&)>& announce) {
    Result<OutputFile> file = written(path, bytes, announce);
    return file.ok() ? file->publish_unless_there() : Status(file.error());
}

Status HistoryFile::replace(const std::string& bytes, const std::function<void(const std::string&)>& announce) {
    Result<OutputFile> file = written(path_, bytes, announce);
    return file.ok() ? file->close() : Status(file.error());
}

}  // namespace gpuprof::compare
