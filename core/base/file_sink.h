// A sink into a file or standard output. A reader that went away (EPIPE) is no error: the rest is not wanted. Every other
// failure to write is one, and is reported when the sink is closed.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/sink.h"

namespace gpuprof {

class FileSink final : public Sink {
public:
    // Opens `file` for writing, emptied first; "-" is standard output.
    static Result<FileSink> open(const std::string& file);
    FileSink(FileSink&& other) noexcept;
    FileSink& operator=(FileSink&&) = delete;
    ~FileSink() override;

    bool failed() const override { return error_ != 0; }
    // Writes what is left; whether everything was written.
    Status close();

private:
    FileSink(std::string name, int fd) : name_(std::move(name)), fd_(fd) {}
    void put(std::string_view bytes) override;

    std::string name_;
    int fd_;
    int error_ = 0;  // errno of the first failure
};

}  // namespace gpuprof
