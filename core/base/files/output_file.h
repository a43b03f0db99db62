// A file that is written whole or not at all. Bytes go to another name in the same folder, which becomes the final name
// when they are complete and on disk. Until then, and after any failure, the previous file of that name is untouched.
//
//   .NAME.part-Ab12Cd    while it is written; a process that is killed leaves it
//   NAME                 after fsync, close, rename and fsync of the folder
//
// Symbolic links are followed: their target is replaced. A target that is not a regular file (a pipe, a device, a
// descriptor below /proc) cannot be replaced: it is opened and written directly.
#pragma once

#include <functional>
#include <string>

#include "core/base/result.h"

namespace gpuprof::inline base {

struct OutputOptions {
    // A new file is readable only by its owner, or as the umask says. A replaced file keeps its mode and group.
    bool owner_only = false;
    // The file has its name from the beginning, for readers that follow it while it grows.
    bool in_place = false;
    // Called with the part's path before it exists, so that a signal handler can remove it.
    std::function<void(const std::string&)> announce = {};
};

class OutputFile {
public:
    static Result<OutputFile> open(const std::string& path, const OutputOptions& options = {});
    // An open descriptor that is written directly and never closed here; `name` is for messages.
    OutputFile(std::string name, int fd) : name_(std::move(name)), fd_(fd), borrowed_(true) {}
    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;
    // Without a successful publish() or close(), the part is removed and nothing has happened.
    ~OutputFile();

    int fd() const { return fd_; }
    // Path of the bytes while the file does not have its name; "" if there is none.
    const std::string& part() const { return part_; }
    // Gives the file its name now; it can still be written. Call it once.
    Status publish();
    // publish() for new files: if the name was taken in the meantime, that file stays and this part is
    // discarded.
    Status publish_unless_there();
    // publish(), then no more writing. Further calls do nothing.
    Status close();
    // Leaves the part in place, without the final name. Returns its path, or "".
    std::string keep_part();
    Error failure(int error) const;

private:
    struct Place;
    OutputFile() = default;
    static Result<OutputFile> open_as_is(const std::string& path, const OutputOptions& options);
    Status make_part(const Place& place, const OutputOptions& options);
    Status named(bool renamed);

    std::string name_;          // as the user wrote it
    std::string part_, final_;  // absolute; "" if there is nothing to rename
    int fd_ = -1;
    bool borrowed_ = false;
};

}  // namespace gpuprof::base
