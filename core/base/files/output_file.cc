#include "core/base/files/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

namespace gpuprof::inline base {
namespace {

constexpr int kMaxLinks = 40;               // the kernel's limit
constexpr std::size_t kMaxNameBytes = 200;  // of NAME_MAX, 255: the rest makes the part's name unique
constexpr int kMaxTries = 100;

ExitCode code_of(int error) {
    switch (error) {
        case EACCES:
        case EPERM:
        case EROFS: return ExitCode::not_permitted;
        case ENOENT:
        case ENOTDIR:
        case EISDIR:
        case ELOOP:
        case ENAMETOOLONG: return ExitCode::usage;
        default: return ExitCode::internal;
    }
}

Error cannot_write(const std::string& name, int error) {
    return {code_of(error), fmt::format("cannot write {}: {}", name, std::strerror(error))};
}

std::string random_letters() {
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz234567";
    std::array<unsigned char, 6> bytes{};
    while (getrandom(bytes.data(), bytes.size(), 0) < 0 && errno == EINTR) {
    }
    std::string letters;
    for (unsigned char byte : bytes) letters += kLetters[byte % kLetters.size()];
    return letters;
}

std::optional<std::string> real_path(const std::string& path) {
    auto release = [](char* text) { std::free(text); };
    std::unique_ptr<char, decltype(release)> real(realpath(path.c_str(), nullptr), release);
    return real ? std::optional<std::string>(real.get()) : std::nullopt;
}

std::optional<std::string> read_link(const std::string& path) {
    std::array<char, PATH_MAX> target{};
    ssize_t length = readlink(path.c_str(), target.data(), target.size());
    if (length < 0) return std::nullopt;
    return std::string(target.data(), static_cast<std::size_t>(length));
}

// Some file systems do not support synchronisation; there is nothing to report then.
int sync_error(int fd) {
    if (fsync(fd) == 0) return 0;
    return errno == EINVAL || errno == ENOTSUP || errno == ENOSYS ? 0 : errno;
}

// A folder that is writable but not readable cannot be opened, and is not synchronised.
int sync_folder(const std::string& file) {
    int folder = ::open(file.substr(0, file.rfind('/') + 1).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return 0;
    int error = sync_error(folder);
    ::close(folder);
    return error;
}

}  // namespace

// The target of a path.
struct OutputFile::Place {
    std::string folder, name;  // of a regular file, existing or not; name "": not a regular file
    std::optional<struct stat> old;

    static Result<Place> of(const std::string& path);
    std::string path() const { return folder + "/" + name; }
};

Result<OutputFile::Place> OutputFile::Place::of(const std::string& path) {
    std::string at = path;
    for (int links = 0; links <= kMaxLinks; ++links) {
        std::size_t slash = at.rfind('/');
        std::string name = slash == std::string::npos ? at : at.substr(slash + 1);
        if (name.empty() || name == "." || name == "..") return Place{};
        std::optional<std::string> folder = real_path(slash == std::string::npos ? "." : at.substr(0, slash + 1));
        if (!folder) return cannot_write(path, errno);
        // Links below /proc denote open files, including files that no longer have a name.
        if (folder->starts_with("/proc/")) return Place{};
        if (*folder == "/") folder->clear();
        Place place{*folder, name, std::nullopt};
        struct stat found {};
        if (lstat(place.path().c_str(), &found) != 0) {
            if (errno != ENOENT) return cannot_write(path, errno);
            return place;
        }
        if (S_ISREG(found.st_mode)) {
            place.old = found;
            return place;
        }
        if (!S_ISLNK(found.st_mode)) return Place{};
        std::optional<std::string> target = read_link(place.path());
        if (!target) return cannot_write(path, errno);
        at = target->starts_with('/') ? *target : fmt::format("{}/{}", *folder, *target);
    }
    return cannot_write(path, ELOOP);
}

Result<OutputFile> OutputFile::open(const std::string& path, const OutputOptions& options) {
    if (options.in_place) return open_as_is(path, options);
    Result<Place> place = Place::of(path);
    if (!place.ok()) return place.error();
    if (place->name.empty()) return open_as_is(path, options);
    OutputFile file;
    file.name_ = path;
    // A rename would not check whether the file is writable.
    if (place->old && faccessat(AT_FDCWD, place->path().c_str(), W_OK, AT_EACCESS) != 0) return file.failure(errno);
    if (Status made = file.make_part(*place, options); !made.ok()) return made.error();
    return file;
}

Result<OutputFile> OutputFile::open_as_is(const std::string& path, const OutputOptions& options) {
    OutputFile file;
    file.name_ = path;
    file.fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, options.owner_only ? 0600 : 0666);
    if (file.fd_ < 0) return file.failure(errno);
    return file;
}

Status OutputFile::make_part(const Place& place, const OutputOptions& options) {
    mode_t mode = options.owner_only || place.old ? 0600 : 0666;
    for (int tries = 0; fd_ < 0; ++tries) {
        std::string part =
            fmt::format("{}/.{}.part-{}", place.folder, place.name.substr(0, kMaxNameBytes), random_letters());
        if (options.announce) options.announce(part);
        fd_ = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd_ >= 0)
            part_ = std::move(part);
        else if (errno != EEXIST || tries == kMaxTries)
            break;
    }
    if (fd_ < 0 && place.old && code_of(errno) == ExitCode::not_permitted)
        return Error{ExitCode::not_permitted,
                     fmt::format("cannot replace {}: no file can be created in its folder ({}), and files are only "
                                 "replaced whole; write to another folder",
                                 name_, std::strerror(errno))};
    if (fd_ < 0) return failure(errno);
    final_ = place.path();
    if (!place.old) return {};
    mode = place.old->st_mode & 0777;
    // The same users can read it as before.
    if (fchown(fd_, place.old->st_uid, place.old->st_gid) != 0 &&
        fchown(fd_, static_cast<uid_t>(-1), place.old->st_gid) != 0)
        mode &= ~mode_t{0070};
    if (fchmod(fd_, mode) != 0) return failure(errno);
    return {};
}

Error OutputFile::failure(int error) const { return cannot_write(name_, error); }

OutputFile::OutputFile(OutputFile&& other) noexcept
    : name_(std::move(other.name_)),
      part_(std::exchange(other.part_, {})),
      final_(std::move(other.final_)),
      fd_(std::exchange(other.fd_, -1)),
      borrowed_(other.borrowed_) {}

OutputFile::~OutputFile() {
    if (fd_ >= 0 && !borrowed_) ::close(fd_);
    if (!part_.empty()) unlink(part_.c_str());
}

Status OutputFile::named(bool renamed) {
    if (!renamed) return failure(errno);
    part_.clear();
    int error = sync_folder(final_);
    if (error == 0) return {};
    return Error{code_of(error), fmt::format("{} was written, but its folder was not synchronised: {}; a power failure "
                                             "may lose the file",
                                             name_, std::strerror(error))};
}

Status OutputFile::publish() {
    if (part_.empty()) return {};
    if (int error = sync_error(fd_)) return failure(error);
    return named(rename(part_.c_str(), final_.c_str()) == 0);
}

Status OutputFile::publish_unless_there() {
    if (part_.empty()) return {};
    if (int error = sync_error(fd_)) return failure(error);
    bool there = renameat2(AT_FDCWD, part_.c_str(), AT_FDCWD, final_.c_str(), RENAME_NOREPLACE) == 0;
    if (!there && errno != EEXIST && link(part_.c_str(), final_.c_str()) == 0) there = unlink(part_.c_str()) == 0;
    if (!there && errno == EEXIST) return {};
    return named(there);
}

Status OutputFile::close() {
    if (fd_ < 0 || borrowed_) return {};
    if (int error = part_.empty() ? 0 : sync_error(fd_)) return failure(error);
    if (::close(std::exchange(fd_, -1)) != 0) return failure(errno);
    return part_.empty() ? Status() : named(rename(part_.c_str(), final_.c_str()) == 0);
}

std::string OutputFile::keep_part() { return std::exchange(part_, {}); }

}  // namespace gpuprof::base
