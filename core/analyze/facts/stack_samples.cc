#include "core/analyze/facts/stack_samples.h"

#include <algorithm>
#include <charconv>

#include "core/analyze/facts/facts.h"

namespace gpuprof {

PythonFrame parse_frame(std::string_view frame) {
    std::size_t open = frame.rfind(" (");
    if (open == std::string_view::npos || frame.back() != ')') return {frame, {}, -1};
    PythonFrame parsed{frame.substr(0, open), frame.substr(open + 2, frame.size() - open - 3), -1};
    std::size_t colon = parsed.file.rfind(':');
    if (colon == std::string_view::npos) return parsed;
    std::int64_t line = -1;
    const char* end = parsed.file.data() + parsed.file.size();
    auto read = std::from_chars(parsed.file.data() + colon + 1, end, line);
    if (read.ec != std::errc{} || read.ptr != end || line < 0) return parsed;
    parsed.line = line;
    parsed.file = parsed.file.substr(0, colon);
    return parsed;
}

void FunctionCounts::add(std::string_view text) {
    PythonFrame frame = parse_frame(text);
    Count& count = functions_[{frame.function, frame.file}];
    ++count.samples, ++samples_;
    if (frame.line >= 0) ++count.lines[frame.line];
}

const std::pair<const FunctionCounts::Function, FunctionCounts::Count>* FunctionCounts::most() const {
    auto less = [](const auto& a, const auto& b) { return a.second.samples < b.second.samples; };
    auto most = std::max_element(functions_.begin(), functions_.end(), less);
    return most == functions_.end() ? nullptr : &*most;
}

std::string FunctionCounts::sentence() const {
    const auto* found = most();
    if (found == nullptr) return {};
    return std::to_string(found->second.samples) + " of " + std::to_string(samples_) + " samples in " + top();
}

std::string FunctionCounts::top() const {
    const auto* found = most();
    if (found == nullptr) return {};
    const auto& [function, count] = *found;
    std::string text(function.first);
    if (function.second.empty()) return text;
    text.append(" (").append(function.second);
    auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
    auto line = std::max_element(count.lines.begin(), count.lines.end(), less);
    if (line != count.lines.end()) text.append(":").append(std::to_string(line->first));
    return text + ')';
}

IdlePython IdlePython::make(const Facts& facts) {
    IdlePython python;
    if (facts.trace().tables().stack_sample.rows == 0) return python;
    const IdleGaps& gaps = facts.get<IdleGaps>();
    for (const IdleGap* begin = gaps.gaps.begin(); begin != gaps.gaps.end();) {
        const IdleGap* end =
            std::find_if(begin, gaps.gaps.end(), [&](const IdleGap& gap) { return gap.device != begin->device; });
        python.read_device(facts.trace(), begin, end);
        begin = end;
    }
    return python;
}

// Samples are few and gaps may be millions: each sample looks for its gap.
void IdlePython::read_device(const Trace& trace, const IdleGap* begin, const IdleGap* end) {
    const StackSampleTable& samples = trace.tables().stack_sample;
    ByCause& device = by_device_[begin->device];
    for (Row row = 0; row < samples.rows; ++row) {
        if (!samples.time.has(row) || !samples.thread.has(row) || !samples.stack.has(row)) continue;
        TimeNs time = samples.time[row];
        const IdleGap* after =
            std::upper_bound(begin, end, time, [](TimeNs t, const IdleGap& gap) { return t < gap.start; });
        if (after == begin) continue;
        const IdleGap& gap = after[-1];
        if (time >= gap.start + gap.dur || gap.host_thread != samples.thread[row]) continue;
        std::string_view frame = innermost_frame(trace.text(samples.stack[row]));
        device[static_cast<std::size_t>(gap.cause)].add(frame);
        all_[static_cast<std::size_t>(gap.cause)].add(frame);
    }
}

const FunctionCounts& IdlePython::of(std::int32_t device, IdleCause cause) const {
    auto known = by_device_.find(device);
    return known == by_device_.end() ? none_ : known->second[static_cast<std::size_t>(cause)];
}

}  // namespace gpuprof
