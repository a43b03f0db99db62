// The lines of a text input, one after another, with a maximum length.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/importers/source/source.h"

namespace gpuprof::inline importers {

class Lines {
public:
    static constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;

    explicit Lines(Source& source) : source_(source) {}

    // The next line without its end ("\n" or "\r\n"), valid until the next call; absent at the end or after an error.
    // Text beyond kMaxLineBytes is dropped and counted in cut().
    std::optional<std::string_view> next();
    // Why reading stopped; success at the end of the input.
    const Status& status() const { return status_; }
    // Whether the last line had its line end; without one it may be truncated.
    bool ended() const { return ended_; }
    std::uint64_t number() const { return number_; }  // of the last line, from 1
    std::uint64_t cut() const { return cut_; }

private:
    bool fill();

    Source& source_;
    std::string piece_, line_;
    std::size_t at_ = 0;
    std::uint64_t number_ = 0, cut_ = 0;
    bool ended_ = false;
    Status status_;
};

}  // namespace gpuprof::importers
