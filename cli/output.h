// Where a command's answer goes: standard output or the file of -o, which appears whole or not at all (core/base/file_sink.h).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "cli/unfinished_file.h"
#include "core/base/file_sink.h"
#include "core/base/result.h"
#include "core/model/trace.h"

namespace gpuprof {

enum class Readers { as_umask_says, owner };

class Output final : public FileSink {
public:
    static Result<Output> open(const std::string& file, Readers readers = Readers::as_umask_says);

private:
    Output(FileSink sink, UnfinishedFile part) : FileSink(std::move(sink)), part_(std::move(part)) {}
    UnfinishedFile part_;
};

// What `content` writes, to `file`, if it could write all of it. The output knows why writing failed, and that a reader which
// went away is no failure.
Status write_output(const std::string& file, const std::function<Status(Sink&)>& content,
                    Readers readers = Readers::as_umask_says);

// Whether files may be written: none of them is an input or among the files of a folder that is one, by whatever name or
// link, and no two are the same. "-" is standard input and output; "" is none. To be asked before anything is read.
Status check_outputs(std::span<const std::string> outputs, std::span<const std::string> inputs);
Status check_output(const std::string& output, std::span<const std::string> inputs);

// Writes a short text to standard output.
Status print(std::string_view text);
// One line on standard error, "gpu-profile: ...", for what the user should know beside the answer.
void note(std::string_view line);
// The same that bytes of the input could not be read, for answers that have no room for it (CSV, other tools' formats). Nothing when
// all were read.
void note_damage(const Trace& trace);

}  // namespace gpuprof
