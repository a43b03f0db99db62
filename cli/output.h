// The destination of a command's output: standard output or the file of -o, which appears complete or not at all
// (core/base/files/file_sink.h).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/files/file_sink.h"
#include "core/base/result.h"
#include "core/model/trace.h"

namespace gpuprof::inline cli {

// Temporary files of outputs (core/base/files/output_file.h), which must not survive a signal. SIGINT, SIGTERM, SIGHUP and
// SIGQUIT remove them and then end the program as usual. Signals that are ignored or handled otherwise are left alone.
// SIGKILL leaves the temporary file, and the destination unchanged. One such file, during the lifetime of this object.
class UnfinishedFile {
public:
    UnfinishedFile();
    UnfinishedFile(UnfinishedFile&& other) noexcept;
    UnfinishedFile& operator=(UnfinishedFile&&) = delete;
    ~UnfinishedFile();
    // Sets its absolute path, before the file exists; call again if the path changes.
    void set(const std::string& path);

private:
    int slot_;  // -1: moved from, or all slots are taken
};

enum class FileAccess { by_umask, owner };

class Output final : public FileSink {
public:
    static Result<Output> open(const std::string& file, FileAccess readers = FileAccess::by_umask);

private:
    Output(FileSink sink, UnfinishedFile part) : FileSink(std::move(sink)), part_(std::move(part)) {}
    UnfinishedFile part_;
};

// Writes `content` to `file`. Fails, with the reason, if not all of it could be written. A reader that closes the pipe
// is not a failure.
Status write_output(const std::string& file, const std::function<Status(Sink&)>& content,
                    FileAccess readers = FileAccess::by_umask);

// Checks that outputs may be written: each differs from every input, from every file in an input folder (under any name
// or link), and from the other outputs. "-" is standard input or output; "" is ignored. Call before reading anything.
Status check_outputs(std::span<const std::string> outputs, std::span<const std::string> inputs);
Status check_output(const std::string& output, std::span<const std::string> inputs);
// The same for the capture of a recorded command, whose parts lie next to it while the command runs: no device, pipe or folder.
// Returns the file to write: `given`, which is only overwritten with `force`, or, if that is empty, `usual`, which always is.
struct CaptureName {
    std::string given, usual;
    bool force = false;
};
Result<std::string> capture_file(const CaptureName& name, std::span<const std::string> inputs);

// Writes a short text to standard output.
Status print(std::string_view text);
// Writes "gpu-profile: LINE" to standard error, for information outside the answer.
void note(std::string_view line);
// Notes the message of a failure, and nothing of a success: for places where a failure must not change how the program ends.
void note_failure(const Status& status) noexcept;
// Notes that bytes of the input could not be read, for answers without room for that (CSV, other tools' formats). Does
// nothing if all were read.
void note_damage(const Trace& trace);

}  // namespace gpuprof::cli
