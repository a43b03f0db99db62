// Where a command's answer goes: standard output or the file of -o. A reader that went away (EPIPE) is no error: the rest
// is not wanted. Every other failure to write is one, and is reported when the output is closed.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/sink.h"

namespace gpuprof {

class Output final : public Sink {
public:
    // Opens `file` for writing, emptied first; "-" is standard output.
    static Result<Output> open(const std::string& file);
    Output(Output&& other) noexcept;
    Output& operator=(Output&&) = delete;
    ~Output() override;

    bool failed() const override { return error_ != 0; }
    // Writes what is left; whether everything was written.
    Status close();

private:
    Output(std::string name, int fd) : name_(std::move(name)), fd_(fd) {}
    void put(std::string_view bytes) override;

    std::string name_;
    int fd_;
    int error_ = 0;  // errno of the first failure
};

// Writes a short text to standard output.
Status print(std::string_view text);
// One line on standard error, "gpu-profile: ...", for what the user should know beside the answer.
void note(std::string_view line);

}  // namespace gpuprof
