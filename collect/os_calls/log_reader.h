// Reads a log of operating-system calls (log.h) as untrusted bytes: it may be cut, damaged or of another build, and a program
// may still be writing to it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "collect/os_calls/os_call_log.h"

namespace gpuprof::os_calls {

class LogReader {
public:
    struct Entry {
        std::int64_t start = 0, ns = 0;
        std::int32_t thread = 0;
        std::string_view function;  // "" if the call was not entered completely
    };

    // `bytes` must outlive the reader.
    explicit LogReader(std::string_view bytes) : bytes_(bytes) {}

    // Whether it is a log of this build, as long as it says. Everything below needs that.
    bool valid() const {
        if (bytes_.size() < sizeof(LogHeader) || at<std::uint64_t>(offsetof(LogHeader, magic)) != kLogMagic ||
            at<std::uint64_t>(offsetof(LogHeader, build)) != build_of_log())
            return false;
        auto capacity = at<std::uint64_t>(offsetof(LogHeader, capacity));
        return capacity <= bytes_.size() && log_bytes(capacity) == bytes_.size();
    }
    std::int64_t process() const { return at<std::int64_t>(offsetof(LogHeader, process)); }
    std::uint64_t least_ns() const { return at<std::uint64_t>(offsetof(LogHeader, least_ns)); }
    std::uint64_t dropped() const { return at<std::uint64_t>(offsetof(LogHeader, dropped)); }
    std::uint64_t short_count(std::size_t function) const { return at<std::uint64_t>(short_calls(function)); }
    std::uint64_t short_ns(std::size_t function) const { return at<std::uint64_t>(short_calls(function) + 8); }

    std::size_t calls() const {
        return std::min(at<std::uint64_t>(offsetof(LogHeader, capacity)),
                        at<std::uint64_t>(offsetof(LogHeader, begun)));
    }
    Entry call(std::size_t index) const {
        std::size_t place = sizeof(LogHeader) + index * sizeof(Call);
        auto function = at<std::uint32_t>(place + offsetof(Call, function));
        return {.start = at<std::int64_t>(place + offsetof(Call, start)),
                .ns = at<std::int64_t>(place + offsetof(Call, ns)),
                .thread = at<std::int32_t>(place + offsetof(Call, thread)),
                .function = function == 0 || function > kFunctions ? std::string_view() : kFunctionNames[function - 1]};
    }

private:
    template <class T>
    T at(std::size_t offset) const {
        T value;
        std::memcpy(&value, bytes_.data() + offset, sizeof value);
        return value;
    }
    static std::size_t short_calls(std::size_t function) {
        return offsetof(LogHeader, short_calls) + function * sizeof(ShortCalls);
    }
    std::string_view bytes_;
};

}  // namespace gpuprof::os_calls
