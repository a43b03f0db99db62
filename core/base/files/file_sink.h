// A sink into a file or standard output. A file appears whole or not at all, when the sink is closed (output_file.h).
// If the sink is not closed, or fails, the previous file stays. A reader that went away (EPIPE) is not an error: it
// does not want the rest. Any other write failure is reported when the sink is closed.
#pragma once

#include <string>
#include <string_view>

#include "core/base/files/output_file.h"
#include "core/base/files/sink.h"
#include "core/base/result.h"

namespace gpuprof::inline base {

class FileSink : public Sink {
public:
    // Opens `file` for writing; "-" is standard output.
    static Result<FileSink> open(const std::string& file, const OutputOptions& options = {});
    FileSink(FileSink&& other) noexcept = default;
    FileSink& operator=(FileSink&&) = delete;

    bool failed() const override { return error_ != 0; }
    // Gives the file its name before it is complete, with what was written so far. From then on the file contains only
    // complete flushes: a failure inside one is truncated.
    Status publish();
    // Writes the rest. Returns whether everything was written, from the beginning.
    Status close();
    // As OutputFile::part(), for callers that write there by name.
    const std::string& part() const { return file_.part(); }
    // After a failure: keeps the written bytes under another name. Returns the path, or "" if there is none.
    std::string keep_part() { return file_.keep_part(); }

private:
    explicit FileSink(OutputFile file) : file_(std::move(file)) {}
    void put(std::string_view bytes) override;
    Status status() const;

    OutputFile file_;
    int error_ = 0;      // errno of the first failure
    Status publishing_;  // why the file did not get its name, if that failed
    bool published_ = false;
    off_t whole_ = 0;  // bytes up to the end of the last successful put()
};

}  // namespace gpuprof::base
