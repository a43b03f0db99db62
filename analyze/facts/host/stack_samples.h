// What the threads that a device waited for did in Python: from sampled stacks or, without samples, from the Python
// calls that the framework's profiler recorded. Samples are counted, calls are measured.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/facts/idle/gaps.h"
#include "core/base/text/python_frame.h"
#include "core/model/trace.h"

namespace gpuprof::inline facts {

// How a thread's time in functions is measured.
enum class PythonBasis : std::uint8_t { samples, time };

// Samples, or nanoseconds, per function and per line of it.
class FunctionCounts {
public:
    explicit FunctionCounts(PythonBasis basis = PythonBasis::samples) : basis_(basis) {}
    // `recording`: lower bound of the part spent recording the calls.
    void add(const PythonFrame& frame, std::uint64_t amount = 1, std::uint64_t recording = 0);
    // Over all functions.
    std::uint64_t total() const { return total_; }
    // The function with the most time excluding recording overhead, and its top line: "augment (data.py:31)"; "" if
    // nothing was added.
    std::string top() const;
    // For the same function: "62 of 80 samples in augment (data.py:31)", or "122 ms of 154 ms of Python calls in ...".
    // Recording overhead is added if it exceeds the function's time without it, and reported alone if it is most of the
    // total. "" if nothing was added.
    std::string sentence() const;

private:
    using Function = std::pair<std::string_view, std::string_view>;  // name and file
    struct Count {
        std::uint64_t amount = 0, recording = 0;
        std::uint64_t beyond() const { return amount - recording; }
        std::map<std::int64_t, std::uint64_t> lines;
    };
    const std::pair<const Function, Count>* most() const;
    PythonBasis basis_;
    std::map<Function, Count> functions_;
    std::uint64_t total_ = 0, recording_ = 0;
};

// Python activity of the threads that kept a device waiting, by cause of the wait. Time counts for the innermost Python
// function; the time of a builtin counts for its caller, as in samples.
class IdlePython {
public:
    static IdlePython make(const Facts& facts);
    PythonBasis basis() const { return basis_; }
    // Over all devices.
    const FunctionCounts& of(IdleCause cause) const { return all_[static_cast<std::size_t>(cause)]; }
    const FunctionCounts& of(std::int32_t device, IdleCause cause) const;

private:
    using ByCause = std::vector<FunctionCounts>;  // kIdleCauses of them
    explicit IdlePython(PythonBasis basis) : basis_(basis), all_(none_yet()), none_(basis) {}
    ByCause none_yet() const { return ByCause(kIdleCauses, FunctionCounts(basis_)); }
    ByCause& of_device(std::int32_t device) { return by_device_.try_emplace(device, none_yet()).first->second; }
    void read_samples(const Trace& trace, const IdleGap* begin, const IdleGap* end);
    void read_calls(const Facts& facts);
    PythonBasis basis_;
    ByCause all_;
    std::map<std::int32_t, ByCause> by_device_;
    FunctionCounts none_;
};

}  // namespace gpuprof::facts
