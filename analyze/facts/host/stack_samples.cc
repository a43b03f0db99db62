#include "analyze/facts/host/stack_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "analyze/facts/idle/host_timeline.h"
#include "analyze/knowledge/known_record_cost.h"
#include "core/base/text/readable.h"

#include "analyze/facts/facts.h"

namespace gpuprof::inline facts {

void FunctionCounts::add(const PythonFrame& frame, std::uint64_t amount, std::uint64_t recording) {
    Count& count = functions_[{frame.function, frame.file}];
    recording = std::min(recording, amount);
    count.amount += amount;
    total_ += amount;
    count.recording += recording;
    recording_ += recording;
    if (frame.line >= 0) count.lines[frame.line] += amount;
}

const std::pair<const FunctionCounts::Function, FunctionCounts::Count>* FunctionCounts::most() const {
    auto less = [](const auto& a, const auto& b) { return a.second.beyond() < b.second.beyond(); };
    auto most = std::max_element(functions_.begin(), functions_.end(), less);
    return most == functions_.end() ? nullptr : &*most;
}

std::string FunctionCounts::sentence() const {
    const auto* found = most();
    if (found == nullptr) return {};
    std::uint64_t part = found->second.amount;
    if (basis_ == PythonBasis::samples) return fmt::format("{} of {} samples in {}", part, total_, top());
    std::string all = readable_duration(total_);
    std::string recording = readable_duration(recording_);
    if (2 * recording_ > total_)
        return fmt::format("at least {} of the {} of Python calls is recording overhead", recording, all);
    std::string share = fmt::format("{} of {} of Python calls in {}", readable_duration(part), all, top());
    return recording_ > found->second.beyond() ? fmt::format("{}; recording overhead is at least {}", share, recording)
                                               : share;
}

std::string FunctionCounts::top() const {
    const auto* found = most();
    if (found == nullptr) return {};
    const auto& [function, count] = *found;
    auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
    auto line = std::max_element(count.lines.begin(), count.lines.end(), less);
    return to_text({function.first, function.second, line == count.lines.end() ? -1 : line->first});
}

IdlePython IdlePython::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    IdlePython python(trace.tables().stack_sample.rows > 0 ? PythonBasis::samples : PythonBasis::time);
    if (python.basis_ == PythonBasis::time && trace.tables().python_call.rows == 0) return python;
    const GapList& gaps = facts.get<GapList>();
    if (python.basis_ == PythonBasis::time) {
        python.read_calls(facts);
        return python;
    }
    for (const IdleGap* begin = gaps.gaps.begin(); begin != gaps.gaps.end();) {
        const IdleGap* end =
            std::find_if(begin, gaps.gaps.end(), [&](const IdleGap& gap) { return gap.device != begin->device; });
        python.read_samples(trace, begin, end);
        begin = end;
    }
    return python;
}

// Samples are few and gaps may be millions, so each sample searches its gap.
void IdlePython::read_samples(const Trace& trace, const IdleGap* begin, const IdleGap* end) {
    const StackSampleTable& samples = trace.tables().stack_sample;
    ByCause& device = of_device(begin->device);
    for (Row row = 0; row < samples.rows; ++row) {
        if (!samples.time.has(row) || !samples.thread.has(row) || !samples.stack.has(row)) continue;
        TimeNs time = samples.time[row];
        const IdleGap* after =
            std::upper_bound(begin, end, time, [](TimeNs t, const IdleGap& gap) { return t < gap.start; });
        if (after == begin) continue;
        const IdleGap& gap = after[-1];
        if (time >= gap.start + gap.dur || gap.host_thread != samples.thread[row]) continue;
        PythonFrame frame = parse_frame(innermost_frame(trace.text(samples.stack[row])));
        device[static_cast<std::size_t>(gap.cause)].add(frame);
        all_[static_cast<std::size_t>(gap.cause)].add(frame);
    }
}

// Intersects each piece of a gap with the calls of the thread it waited for.
void IdlePython::read_calls(const Facts& facts) {
    const Trace& trace = facts.trace();
    const GapList& gaps = facts.get<GapList>();
    HostTimeline timeline(trace, {HostKind::python_call});
    auto cost = static_cast<std::uint64_t>(record_cost(trace.origin().recorder_of_work()).python_call);
    std::unordered_map<std::uint32_t, HostThread> threads;  // by key
    for (const IdleSpan& piece : facts.get<IdleSpans>().spans) {
        const IdleGap& gap = gaps.gaps[piece.gap];
        if (gap.host_thread == kNoString) continue;
        auto [known, added] = threads.try_emplace(index_of(gap.host_thread));
        if (added) known->second = timeline.spans(gap.host_thread);
        const HostThread& thread = known->second;
        auto cause = static_cast<std::size_t>(piece.cause);
        ByCause& device = of_device(gap.device);
        TimeNs now = piece.start;
        thread.each_innermost({piece.start, piece.start + piece.dur}, [&](std::uint32_t at, DurNs dur) {
            bool begins = at != kNoSpan && thread.spans[at].start == now;
            now += dur;
            PythonFrame frame;
            for (; at != kNoSpan && frame.file.empty(); at = thread.spans[at].parent)
                frame = parse_python_call(trace.text(thread.spans[at].name));
            if (frame.file.empty()) return;
            for (FunctionCounts* counts : {&device[cause], &all_[cause]})
                counts->add(frame, static_cast<std::uint64_t>(dur), begins ? cost : 0);
        });
    }
}

const FunctionCounts& IdlePython::of(std::int32_t device, IdleCause cause) const {
    auto known = by_device_.find(device);
    return known == by_device_.end() ? none_ : known->second[static_cast<std::size_t>(cause)];
}

}  // namespace gpuprof::facts
