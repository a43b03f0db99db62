#include "core/analyze/answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analyze/activity.h"
#include "core/analyze/analysis.h"
#include "core/analyze/diagnosis.h"
#include "core/analyze/idle_cause.h"
#include "core/analyze/trust.h"
#include "core/analyze/verdict.h"
#include "core/model/damage.h"

namespace gpuprof {
namespace {

// Slices of the picture: more than a wide terminal has columns, so that the report can merge them evenly.
constexpr std::size_t kSlices = 960;

DevicePicture draw(const DeviceActivity& device, Interval window) {
    DevicePicture picture{device.device, std::vector<double>(kSlices, 0.0)};
    double slice = static_cast<double>(window.length()) / static_cast<double>(kSlices);
    if (slice <= 0) return picture;
    for (const Interval& busy : device.busy) {
        double from = static_cast<double>(busy.start - window.start) / slice,
               to = static_cast<double>(busy.end - window.start) / slice;
        for (auto i = static_cast<std::size_t>(from); i < kSlices && static_cast<double>(i) < to; ++i) {
            double low = std::max(from, static_cast<double>(i)), high = std::min(to, static_cast<double>(i + 1));
            picture.busy[i] += high - low;
        }
    }
    for (double& share : picture.busy) share = std::min(share, 1.0);
    return picture;
}

// What shows the same part of the recording; rounded outwards to a microsecond.
std::string part_option(const Trace& trace) {
    if (!trace.is_part()) return {};
    DurNs from = (trace.window().start - trace.zero()) / 1000, to = (trace.window().end - trace.zero() + 999) / 1000;
    return fmt::format(" --from {}.{:06} --to {}.{:06}", from / 1'000'000, from % 1'000'000, to / 1'000'000,
                       to % 1'000'000);
}

// Commands that show more of what the verdict rests on.
std::vector<std::string> next_steps(const Study& study, const Verdict& verdict) {
    std::string file = study.trace().origin().file, part = part_option(study.trace());
    std::vector<std::string> steps;
    auto show = [&](std::string_view analyses) {
        steps.push_back(fmt::format("gpu-profile report {} {}{}", file, analyses, part));
    };
    if (study.trace().tables().cpu_sample.rows > 0 && study.activity().empty()) show("cpu");
    if (study.activity().empty()) return steps;
    if (verdict.name == "input-bound" || verdict.name == "launch-bound" || verdict.name == "synchronisation-bound" ||
        verdict.name == "host-bound (other)")
        show("gaps idle");
    if (verdict.name == "transfer-bound") show("memcpy overlap");
    if (verdict.name == "communication-bound") show("collectives overlap");
    if (verdict.name == "compute-bound" || verdict.name == "memory-bandwidth-bound" || verdict.name == "underfilled" ||
        verdict.name == "cannot tell" || verdict.name == "mixed")
        show(study.trace().op().rows > 0 ? "kernels ops" : "kernels launches");
    show(much_missing(study.trace()) ? "losses" : "findings");
    return steps;
}

bool has_events(const Trace& trace) {
    bool any = trace.tables().cpu_sample.rows > 0;
    trace.tables().each_table([&](const TableSpec&, const auto& table) {
        if constexpr (requires { table.start; }) any = any || table.rows > 0;
    });
    return any;
}

// What a recording without a timeline has instead, and what shows it.
Error no_timeline(const Trace& trace) {
    struct Shown {
        std::string_view table, analysis;
    };
    constexpr Shown kShown[] = {
        {"profiled_kernel", "counters"}, {"sample", "samples"}, {"memory_event", "memory"}, {"memory_block", ""},
        {"kernel_counter", ""},          {"call_node", ""},     {"call_metric", ""}};
    std::string tables, analyses;
    trace.tables().each_table([&](const TableSpec& spec, const auto& table) {
        for (const Shown& shown : kShown)
            if (spec.name == shown.table && table.rows > 0) {
                tables += fmt::format("{}{} {}", tables.empty() ? "" : ", ", table.rows, shown.table);
                if (!shown.analysis.empty()) analyses += fmt::format(" {}", shown.analysis);
            }
    });
    const std::string& file = trace.origin().file;
    if (tables.empty())
        return {ExitCode::empty,
                after_damage(trace, fmt::format("{}: the trace holds no event; nothing was captured", file))};
    std::string next = analyses.empty() ? fmt::format("gpu-profile export csv {}", file)
                                        : fmt::format("gpu-profile report {}{}", file, analyses);
    return {ExitCode::usage,
            after_damage(trace, fmt::format("{}: no timeline, so no first answer; it has {}: {}", file, tables, next))};
}

}  // namespace

Result<Answer> make_answer(const Study& study) {
    const Trace& trace = study.trace();
    if (!has_events(trace)) return no_timeline(trace);
    Answer answer;
    answer.window = trace.window();
    answer.trust = trust_of(study, true);
    answer.verdict = study.diagnosis().verdict;
    answer.findings = study.diagnosis().findings;
    for (const DeviceActivity& device : study.activity()) answer.pictures.push_back(draw(device, trace.window()));
    for (std::string_view name : {"devices", "idle", "kernels"}) {
        Result<ResultTable> table = find_analysis(name)->run(study);
        if (!table.ok()) return table.error();
        answer.tables.push_back(std::move(table).value());
    }
    answer.next_steps = next_steps(study, answer.verdict);
    return answer;
}

}  // namespace gpuprof
