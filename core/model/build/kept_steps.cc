#include "core/model/build/kept_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/text/readable.h"
#include "core/model/meta_values.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::inline model {
namespace {

// The number after "NAME=" among words; absent if there is none.
std::optional<std::int64_t> number_of(std::string_view words, std::string_view name) {
    for (std::size_t at = 0; at < words.size();) {
        std::size_t end = std::min(words.find(' ', at), words.size());
        std::string_view word = words.substr(at, end - at);
        at = end + 1;
        if (word.size() <= name.size() || !word.starts_with(name) || word[name.size()] != '=') continue;
        std::int64_t value = 0;
        auto [stop, error] = std::from_chars(word.data() + name.size() + 1, word.data() + word.size(), value);
        if (error == std::errc() && stop == word.data() + word.size()) return value;
    }
    return std::nullopt;
}

}  // namespace

std::string encode_kept_step(const KeptStepFact& step) {
    return fmt::format(
        "step={} start_ns={} end_ns={} duration_ns={} median_ns={} missing_ns={} warm_up={} unfinished={}{}",
        step.number, step.span.start, step.span.end, step.duration, step.median, step.missing, step.warm_up ? 1 : 0,
        step.unfinished ? 1 : 0, step.thread.empty() ? "" : fmt::format(" thread={}", step.thread));
}

std::optional<KeptStepFact> decode_kept_step(std::string_view value) {
    auto number = number_of(value, "step"), start = number_of(value, "start_ns"), end = number_of(value, "end_ns");
    auto duration = number_of(value, "duration_ns");
    if (!number || !start || !end || !duration || *number < 1 || *end < *start || *duration < 0) return std::nullopt;
    KeptStepFact step;
    step.number = static_cast<std::uint64_t>(*number);
    step.span = {*start, *end};
    step.duration = *duration;
    step.median = std::max<DurNs>(number_of(value, "median_ns").value_or(0), 0);
    step.missing = std::max<DurNs>(number_of(value, "missing_ns").value_or(0), 0);
    step.warm_up = number_of(value, "warm_up").value_or(0) != 0;
    step.unfinished = number_of(value, "unfinished").value_or(0) != 0;
    if (std::size_t thread = value.find(" thread="); thread != std::string_view::npos)
        step.thread = value.substr(thread + 8);
    return step;
}

std::string kept_step_text(const KeptStepFact& step) {
    std::string text =
        fmt::format("step {}{}{} ({}", readable_count(static_cast<std::int64_t>(step.number)),
                    step.thread.empty() ? "" : " of thread ", step.thread, readable_duration(step.duration));
    if (step.warm_up)
        text += ", in the warm-up";
    else if (step.median > 0)
        text +=
            fmt::format(", {:.2f}x the median", static_cast<double>(step.duration) / static_cast<double>(step.median));
    if (step.unfinished) text += ", unfinished";
    if (step.missing > 0) text += fmt::format(", without its first {}", readable_duration(step.missing));
    return text + ")";
}

void sort_slowest_first(std::vector<KeptStepFact>& steps) {
    std::stable_sort(steps.begin(), steps.end(), [](const KeptStepFact& a, const KeptStepFact& b) {
        return a.warm_up != b.warm_up ? b.warm_up : a.duration > b.duration;
    });
}

std::vector<KeptStepFact> kept_steps(const Trace& trace) {
    std::vector<KeptStepFact> steps;
    Interval whole = trace.full_window();
    for (std::string_view value : meta_values(trace, meta_key::kKeptStep)) {
        std::optional<KeptStepFact> step = decode_kept_step(value);
        if (step && step->span.start < whole.end && step->span.end > whole.start) steps.push_back(*step);
    }
    sort_slowest_first(steps);
    return steps;
}

}  // namespace gpuprof::model
