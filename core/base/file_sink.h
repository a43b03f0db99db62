// A sink into a file or standard output. A file appears whole or not at all, when the sink is closed (output_file.h); a sink
// that is not closed, or failed, leaves what was there before. A reader that went away (EPIPE) is no error: the rest is not
// wanted. Every other failure to write is one, and is reported when the sink is closed.
#pragma once

#include <string>
#include <string_view>

#include "core/base/output_file.h"
#include "core/base/result.h"
#include "core/base/sink.h"

namespace gpuprof {

class FileSink : public Sink {
public:
    // Opens `file` for writing; "-" is standard output.
    static Result<FileSink> open(const std::string& file, const OutputOptions& options = {});
    FileSink(FileSink&& other) noexcept = default;
    FileSink& operator=(FileSink&&) = delete;

    bool failed() const override { return error_ != 0; }
    // Gives the file its name before it is complete, with what was written so far. From then on it holds only what was written
    // between two flushes: a failure in the middle of that is cut off.
    Status publish();
    // Writes what is left; whether everything was written, from the beginning.
    Status close();
    // As OutputFile::part(); for who writes there by name.
    const std::string& part() const { return file_.part(); }
    // After a failure: leaves what was written under another name. The path, or "" when there is none.
    std::string keep_part() { return file_.keep_part(); }

private:
    explicit FileSink(OutputFile file) : file_(std::move(file)) {}
    void put(std::string_view bytes) override;
    Status status() const;

    OutputFile file_;
    int error_ = 0;      // errno of the first failure
    Status publishing_;  // why the file did not get its name, when that was tried
    bool published_ = false;
    off_t whole_ = 0;  // bytes up to the end of the last put() that succeeded
};

}  // namespace gpuprof
