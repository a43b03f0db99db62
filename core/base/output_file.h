// A file that is written whole or not at all. Bytes go to another name in the same folder and take the final name when they
// are complete and on the disk; until then, and after any failure or death, what had the name before is untouched.
//
//   .NAME.part-Ab12Cd    while it is written; a process that is killed leaves it
//   NAME                 after fsync, close, rename and fsync of the folder
//
// Symbolic links are followed: the file they lead to is replaced. What is not a regular file (a pipe, a device, a descriptor
// below /proc) cannot be replaced: it is opened and written as it is.
#pragma once

#include <functional>
#include <string>

#include "core/base/result.h"

namespace gpuprof {

struct OutputOptions {
    // A new file is readable by its owner alone, else as the umask says. A file that is replaced keeps its mode and group.
    bool owner_only = false;
    // The file has its name from the beginning: for what others read while it grows.
    bool in_place = false;
    // Called with the part's path before it exists, for whoever removes it when a signal ends the program.
    std::function<void(const std::string&)> announce = {};
};

class OutputFile {
public:
    static Result<OutputFile> open(const std::string& path, const OutputOptions& options = {});
    // An open descriptor that is written as it is and never closed here; `name` is for messages.
    OutputFile(std::string name, int fd) : name_(std::move(name)), fd_(fd), borrowed_(true) {}
    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;
    // Without a publish() or close() that succeeded, the part is removed and nothing has happened.
    ~OutputFile();

    int fd() const { return fd_; }
    // Where the bytes are as long as the file does not have its name; "" when there is no such place.
    const std::string& part() const { return part_; }
    // Gives the file its name now; it can be written further. Once is enough.
    Status publish();
    // publish() of what is new: if the name was taken in the meantime, what has it stays and this part is given up.
    Status publish_unless_there();
    // publish(), and no more writing. Further calls do nothing.
    Status close();
    // Leaves the part where it is, without the final name. Its path, or "".
    std::string keep_part();
    Error failure(int error) const;

private:
    struct Place;
    OutputFile() = default;
    static Result<OutputFile> open_as_is(const std::string& path, const OutputOptions& options);
    Status make_part(const Place& place, const OutputOptions& options);
    Status named(bool renamed);

    std::string name_;          // as the user wrote it
    std::string part_, final_;  // absolute; "" when there is nothing to rename
    int fd_ = -1;
    bool borrowed_ = false;
};

}  // namespace gpuprof
