// What both pprof exporters share: the numbers of fields, the table of strings, and the compressed file.
// Source of the field numbers: proto/profile.proto of github.com/google/pprof.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/files/sink.h"
#include "core/base/result.h"

namespace gpuprof::inline exporters::pprof {

namespace profile {
constexpr std::uint32_t sample_type = 1, sample = 2, location = 4, function = 5, string = 6, time = 9, duration = 10,
                        default_type = 14;
}
namespace value_type {
constexpr std::uint32_t type = 1, unit = 2;
}
namespace sample {
constexpr std::uint32_t locations = 1, values = 2;
}
namespace location {
constexpr std::uint32_t id = 1, line = 4, line_function = 1, line_number = 2;
}
namespace function {
constexpr std::uint32_t id = 1, name = 2, file = 4;
}

class Strings {
public:
    Strings() { (void)of(""); }  // the first must be empty
    std::int64_t of(const std::string& text) {
        auto [number, added] = numbers_.try_emplace(text, std::ssize(texts_));
        if (added) texts_.push_back(text);
        return number->second;
    }
    const std::vector<std::string>& texts() const { return texts_; }

private:
    std::unordered_map<std::string, std::int64_t> numbers_;
    std::vector<std::string> texts_;
};

// Writes a profile with gzip, as pprof expects it.
Status write_profile(std::string text, Sink& sink);

}  // namespace gpuprof::exporters::pprof
