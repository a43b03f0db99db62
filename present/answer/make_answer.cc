#include "present/answer/make_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyze/facts/activity.h"
#include "analyze/facts/context.h"
#include "analyze/facts/facts.h"
#include "analyze/facts/host/peer_waits.h"
#include "analyze/facts/idle/gaps.h"
#include "analyze/facts/kernels/kernel_bound.h"
#include "analyze/facts/kernels/kernel_occupancy.h"
#include "analyze/facts/memory/managed_migrations.h"
#include "analyze/replay/gain.h"
#include "core/base/parallel.h"
#include "core/base/result.h"
#include "core/model/answer.h"
#include "present/answer/analyses.h"
#include "present/answer/diagnosis.h"
#include "present/answer/trust.h"

namespace gpuprof::inline answer {
namespace {

// Slices of the picture: more than the columns of a wide terminal, so that the report can merge them evenly.
constexpr std::size_t kSlices = 960;
constexpr std::size_t kMaxPredictions = 2;

BusyProfile draw(const DeviceActivity& device, Interval window) {
    BusyProfile picture{device.device, std::vector<double>(kSlices, 0.0)};
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

// Options that select the same part of the recording, rounded outwards to a microsecond.
std::string part_option(const Trace& trace) {
    if (!trace.is_part()) return {};
    DurNs from = (trace.window().start - trace.zero()) / 1000, to = (trace.window().end - trace.zero() + 999) / 1000;
    return fmt::format(" --from {}.{:06} --to {}.{:06}", from / 1'000'000, from % 1'000'000, to / 1'000'000,
                       to % 1'000'000);
}

// Commands that show what the verdict is based on.
std::vector<std::string> next_steps(const Facts& facts, const Verdict& verdict) {
    std::string file = facts.trace().origin().file, part = part_option(facts.trace());
    std::vector<std::string> steps;
    auto show = [&](std::string_view analyses) {
        steps.push_back(fmt::format("gpu-profile report {} {}{}", file, analyses, part));
    };
    if (facts.trace().tables().cpu_sample.rows > 0 && facts.get<Activity>().devices.empty()) show("cpu");
    if (facts.get<Activity>().devices.empty()) {
        if (facts.trace().range().rows + facts.trace().op().rows > 0)
            show(facts.trace().op().rows > 0 ? "ops ranges" : "ranges");
        return steps;
    }
    if (facts.get<Context>().server) show("phases iterations");
    switch (verdict.limit) {
        case Limit::input:
        case Limit::launch:
        case Limit::synchronisation:
        case Limit::host:
        case Limit::paced:
        case Limit::no_load: show("gaps idle"); break;
        case Limit::transfer:
            show(facts.get<ManagedMigrations>().limited > 0 ? "unified_memory memcpy" : "memcpy overlap");
            break;
        case Limit::communication: {
            const PeerWaits& peers = facts.get<PeerWaits>();
            if (peers.exposed_wait + peers.exposed_doubtful > 0)
                steps.push_back("gpu-profile ranks FOLDER, with the recordings of all ranks");
            show("collectives overlap");
            break;
        }
        case Limit::compute:
        case Limit::memory_bandwidth:
        case Limit::underfilled:
        case Limit::unknown:
        case Limit::mixed: show(facts.trace().op().rows > 0 ? "kernels ops" : "kernels launches"); break;
        default: break;
    }
    if (facts.get<Replayed>().too_large) steps.push_back(fmt::format("gpu-profile whatif {}{}", file, part));
    show(work_missing(facts.trace()) ? "losses" : "findings");
    return steps;
}

// The first steps of the plan. Each includes those before it.
std::vector<PredictedGain> predictions(const Facts& facts) {
    std::vector<PredictedGain> found;
    if (!facts.get<Replayed>().holds) return found;
    const std::vector<Prediction>& plan = facts.get<WhatIf>().plan;
    for (std::size_t i = 0; i < std::min(kMaxPredictions, plan.size()); ++i) found.push_back(predicted_gain(plan[i]));
    return found;
}

bool has_events(const Trace& trace) {
    bool any = trace.tables().cpu_sample.rows > 0;
    trace.tables().each_table([&](const TableSpec&, const auto& table) {
        if constexpr (requires { table.start; }) any = any || table.rows > 0;
    });
    return any;
}

}  // namespace

Result<Answer> make_answer(const Facts& facts) {
    const Trace& trace = facts.trace();
    if (!has_events(trace) || trace.completeness().measured_instead) return answer_without_timeline(facts);
    Answer answer;
    answer.window = trace.window();
    // What is about kernels, and the picture, do not depend on why devices were idle.
    std::optional<Result<ResultTable>> kernels;
    run_together(trace.kernel().rows, {[&] { (void)facts.get<IdleGaps>(); },
                                       [&] {
                                           (void)facts.get<KernelGroups>();
                                           (void)facts.get<LaunchOccupancy>();
                                           kernels = find_analysis("kernels")->run(facts);
                                           for (const DeviceActivity& device : facts.get<Activity>().devices)
                                               answer.busy_profiles.push_back(draw(device, trace.window()));
                                       }});
    answer.trust = trust_of(facts, true);
    answer.verdict = facts.get<Diagnosis>().verdict;
    answer.findings = facts.get<Diagnosis>().findings;
    answer.predictions = predictions(facts);
    for (std::string_view name : {"devices", "idle"}) {
        Result<ResultTable> table = find_analysis(name)->run(facts);
        if (!table.ok()) return table.error();
        answer.tables.push_back(std::move(table).value());
    }
    if (!kernels->ok()) return kernels->error();
    answer.tables.push_back(std::move(*kernels).value());
    answer.next_steps = next_steps(facts, answer.verdict);
    return answer;
}

}  // namespace gpuprof::answer
