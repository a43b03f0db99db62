// Python stacks that were sampled beside the program, by thread and time, and what they say of a stretch of time: which
// function a thread was in most often. A frame is text as the recorder writes it, `function (file:line)`.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/analyze/facts/gaps.h"
#include "core/model/trace.h"

namespace gpuprof {

// The parts of `function (file:line)`; a frame of another form is all function.
struct PythonFrame {
    std::string_view function, file;
    std::int64_t line = -1;  // -1: none
};
PythonFrame parse_frame(std::string_view frame);

// Calls visit(frame) for each frame of a stack, the outermost first.
template <class Visit>
void each_frame(std::string_view stack, Visit&& visit) {
    while (!stack.empty()) {
        std::string_view frame = stack.substr(0, stack.find(';'));
        stack.remove_prefix(frame.size() < stack.size() ? frame.size() + 1 : stack.size());
        visit(frame);
    }
}
inline std::string_view innermost_frame(std::string_view stack) { return stack.substr(stack.rfind(';') + 1); }

// How often samples met one function, and one of its lines.
class FunctionCounts {
public:
    void add(std::string_view frame);
    std::uint64_t samples() const { return samples_; }
    // The function met most often, with the line that was met most often in it: "augment (data.py:31)"; "" without samples.
    std::string top() const;
    // "62 of 80 samples in augment (data.py:31)", of the same function; "" without samples.
    std::string sentence() const;

private:
    using Function = std::pair<std::string_view, std::string_view>;  // name and file
    struct Count {
        std::uint64_t samples = 0;
        std::map<std::int64_t, std::uint64_t> lines;
    };
    const std::pair<const Function, Count>* most() const;
    std::map<Function, Count> functions_;
    std::uint64_t samples_ = 0;
};

// What the threads that kept a device waiting were doing in Python, by cause of the wait.
class IdlePython {
public:
    static IdlePython make(const Facts& facts);
    // Of all devices.
    const FunctionCounts& of(IdleCause cause) const { return all_[static_cast<std::size_t>(cause)]; }
    const FunctionCounts& of(std::int32_t device, IdleCause cause) const;

private:
    using ByCause = std::array<FunctionCounts, kIdleCauses>;
    void read_device(const Trace& trace, const IdleGap* begin, const IdleGap* end);
    ByCause all_;
    std::map<std::int32_t, ByCause> by_device_;
    FunctionCounts none_;
};

}  // namespace gpuprof
