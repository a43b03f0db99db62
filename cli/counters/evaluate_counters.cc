#include "cli/counters/evaluate_counters.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <vector>

#include "cli/output.h"
#include "cli/record/recording_parts.h"
#include "collect/counters/host_link.h"
#include "collect/counters/skips.h"
#include "collect/counters/spooled_images.h"
#include "collect/launch/injection.h"
#include "collect/pm/pm_errors.h"
#include "core/base/text/readable.h"
#include "core/format/counter_plan.h"

namespace gpuprof::inline cli {
namespace {

constexpr const char* kPart = "kernel-counters";

std::string count_text(std::uint64_t count, std::string_view one, std::string_view several) {
    return fmt::format("{} {}", readable_count(static_cast<std::int64_t>(count)), count == 1 ? one : several);
}

void note_missing(const counters::SpooledImages& spooled) {
    for (const std::string& refused : spooled.refused) note(refused);
    for (const std::string& hung : spooled.hung)
        note(
            fmt::format("the replay of {}; the program was ended; exclude this kernel (--kernel), or measure a range "
                        "(--range)",
                        hung));
    bool any_hung = !spooled.hung.empty();
    for (const counters::Measurement& each : spooled.measurements) {
        if (!each.complete && !any_hung) note(fmt::format("the program ended while {} was measured", each.name));
        if (each.about.code == 0) continue;
        std::string function(each.about.function, strnlen(each.about.function, sizeof each.about.function));
        note(fmt::format("cannot measure {}: {}", each.name,
                         pm::explain(function.c_str(), static_cast<int>(each.about.code)).message));
    }
    for (const auto& [reason, skipped] : spooled.skipped)
        note("not measured: " + counters::explain_skip(reason, skipped));
}

}  // namespace

bool is_counter_part(const std::string& file) {
    return is_companion_part(file) && file.find(kPart) != std::string::npos;
}

void evaluate_counters(const std::string& folder, const std::string& program, CounterPart part,
                       const std::vector<counters::TracedProcess>& processes) {
    std::string plan = folder + "/" + kCounterPlanFile;
    std::error_code failed;
    if (!std::filesystem::exists(plan, failed)) return;
    std::vector<std::string> files;
    counters::SpooledImages spooled;
    for (const std::string& file : parts_in(folder)) {
        if (is_counter_part(file)) return;  // done by an earlier attempt
        if (is_companion_part(file)) continue;
        if (Status read = counters::read_images(file, spooled); !read) note(read.error().message);
        files.push_back(file);
    }
    counters::Evaluation evaluation = counters::evaluate_images({.program = program,
                                                                 .plan = plan,
                                                                 .spools = files,
                                                                 .part = companion_part(folder, kPart),
                                                                 .with_trace = part == CounterPart::with_trace,
                                                                 .processes = processes,
                                                                 .skip = 0});
    for (const std::string& remark : evaluation.remarks) note(remark);
    note_missing(spooled);
    bool silent = spooled.measurements.empty() && spooled.skipped.empty() && spooled.refused.empty();
    note(silent ? "nothing was measured: the program launched none of the chosen kernels, or does not use CUDA"
                : fmt::format("{} measured, {}", count_text(evaluation.launches, "launch", "launches"),
                              count_text(evaluation.values, "value", "values")));
}

}  // namespace gpuprof::cli
