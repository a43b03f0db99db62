#include "analyze/facts/steps/serving_phases.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analyze/facts/activity.h"
#include "analyze/facts/idle/waits.h"
#include "analyze/facts/kernels/kernel_bound.h"
#include "analyze/facts/stat.h"

namespace gpuprof::inline facts {
namespace {

// Summed durations of the kernels of each iteration, by limit.
std::vector<std::array<DurNs, kBounds>> kernel_times(const Facts& facts, const Iterations& found) {
    std::vector<std::array<DurNs, kBounds>> times(found.all.size());
    const PodVector<Bound>& bounds = facts.get<KernelGroups>().of_kernel;
    for (Row row = 0; row < bounds.size(); ++row)
        if (std::uint32_t it = found.of_kernel[row]; it != kNoIteration)
            times[it][static_cast<std::size_t>(bounds[row])] += facts.trace().kernel().dur[row];
    return times;
}

// Longer than any pause between two ops that are queued while the host waits for them; the two cut recordings of SGLang
// (MI300X) wait 463 and 493 ms.
constexpr DurNs kCutWait = 100'000;

// Idle time in the first iteration of a recording while the host waits for the device: it waits for work that began before the
// recording, or was cut out of it, so whether the device was idle is unknown.
DurNs waits_for_cut_work(const Facts& facts, const Iterations& found, const Iteration& it) {
    const Engine& engine = found.engines[it.engine];
    const Waits& waits = facts.get<Waits>();
    auto of = waits.of_thread.find(engine.thread);
    if (!it.first || of == waits.of_thread.end()) return 0;
    IntervalSet idle = intersect(of->second, IntervalSet{{it.begin, it.gpu.end}});
    for (const DeviceActivity& device : facts.get<Activity>().devices)
        if (device.device == engine.device) idle = subtract(idle, device.busy);
    DurNs waited = 0;
    for (const Interval& each : idle) waited += each.length() >= kCutWait ? each.length() : 0;
    return std::min(waited, it.idle_inside);
}

// Wall time is idle or busy; what is busy with kernels of this iteration is divided by their durations, because kernels overlap.
void add_parts(const Iteration& it, const std::array<DurNs, kBounds>& kernels, DurNs cut, PhaseTotals& to) {
    auto add = [&](PhasePart part, DurNs time) { to.parts[static_cast<std::size_t>(part)] += time; };
    add(PhasePart::host_between, it.idle_before);
    add(PhasePart::host_inside, it.idle_inside - cut);
    add(PhasePart::unknown, cut);
    to.cut += cut;
    add(PhasePart::graph_gaps, it.idle_graph);
    add(PhasePart::communication, it.exposed_comm);
    DurNs busy = std::max<DurNs>(0, it.wall() - it.idle() - it.exposed_comm);
    constexpr std::pair<Bound, PhasePart> kParts[] = {{Bound::memory, PhasePart::memory},
                                                      {Bound::compute, PhasePart::compute},
                                                      {Bound::underfilled, PhasePart::underfilled},
                                                      {Bound::migration, PhasePart::unknown},
                                                      {Bound::unknown, PhasePart::unknown}};
    double sum = 0;
    for (auto [bound, part] : kParts) sum += static_cast<double>(kernels[static_cast<std::size_t>(bound)]);
    DurNs computing = std::min(busy, static_cast<DurNs>(sum)), given = 0;
    for (auto [bound, part] : kParts) {
        if (bound == Bound::unknown) continue;
        double of = static_cast<double>(kernels[static_cast<std::size_t>(bound)]);
        DurNs time = sum > 0 ? static_cast<DurNs>(static_cast<double>(computing) * of / sum) : 0;
        add(part, time);
        given += time;
    }
    add(PhasePart::unknown, kernels[static_cast<std::size_t>(Bound::unknown)] > 0 ? computing - given : 0);
    DurNs rest = busy - computing;
    if (kernels[static_cast<std::size_t>(Bound::unknown)] == 0) rest += computing - given;
    add(PhasePart::copies, rest);
}

// Requests whose prompt ends in this step: in the next one they decode. Absent if the text of a step does not say.
std::optional<std::int64_t> output_of(const std::vector<Iteration>& all, std::size_t i) {
    const ServingBatch& batch = all[i].batch;
    if (batch.phase == ServingPhase::decode) return batch.decode_requests;
    if (batch.phase == ServingPhase::dummy || batch.phase == ServingPhase::empty) return 0;
    return std::nullopt;  // verify: accepted tokens are not recorded; prefill: chunks of prompts have no output
}

PhaseTotals totals_of(const Facts& facts, const Iterations& found,
                      const std::vector<std::array<DurNs, kBounds>>& kernels, const std::vector<std::size_t>& of) {
    PhaseTotals to;
    const Iteration& any = found.all[of.front()];
    to.engine = any.engine;
    to.phase = any.phase();
    to.count = of.size();
    std::vector<std::int64_t> walls, requests, comms;
    to.tokens = to.output_tokens = 0;
    std::int64_t most_tokens = 0;
    double all_kernels = 0;
    for (std::size_t i : of) {
        const Iteration& it = found.all[i];
        all_kernels += static_cast<double>(it.kernels);
        auto add = [](std::optional<std::int64_t>& sum, const std::optional<std::int64_t>& value) {
            sum = sum && value ? std::optional(*sum + *value) : std::nullopt;
        };
        add(to.tokens, it.batch.tokens);
        add(to.output_tokens, output_of(found.all, i));
        most_tokens = std::max(most_tokens, it.batch.tokens.value_or(0));
        if (it.batch.requests) requests.push_back(*it.batch.requests);
        if (!it.ran) continue;
        walls.push_back(it.wall());
        comms.push_back(it.exposed_comm);
        to.wall += it.wall();
        to.own_busy += it.own_busy;
        add_parts(it, kernels[i], waits_for_cut_work(facts, found, it), to);
    }
    to.kernels = all_kernels / static_cast<double>(of.size());
    if (!walls.empty()) {
        to.p50 = nearest_rank(walls, 50);
        to.p95 = nearest_rank(walls, 95);
        to.exposed_comm_p50 = nearest_rank(comms, 50);
    }
    if (!requests.empty()) to.requests_p50 = nearest_rank(requests, 50);
    if (to.tokens && most_tokens > 0) to.intensity = static_cast<double>(most_tokens);
    return to;
}

}  // namespace

std::string_view name_of(PhasePart part) {
    constexpr std::string_view kNames[] = {"host between steps", "host inside", "graph node gaps",
                                           "memory bandwidth",   "compute",     "communication",
                                           "underfilled",        "copies",      "unknown"};
    return kNames[static_cast<std::size_t>(part)];
}

PhasePart PhaseTotals::largest() const {
    std::array<DurNs, kPhaseParts> of_its_own = parts;
    of_its_own[static_cast<std::size_t>(PhasePart::unknown)] -= cut;
    return static_cast<PhasePart>(std::max_element(of_its_own.begin(), of_its_own.end()) - of_its_own.begin());
}

ServingPhases ServingPhases::make(const Facts& facts) {
    const Iterations& found = facts.get<Iterations>();
    std::vector<std::array<DurNs, kBounds>> kernels = kernel_times(facts, found);
    // By engine, the steady part before the whole, and phase.
    std::map<std::tuple<std::size_t, bool, ServingPhase>, std::vector<std::size_t>> rows;
    for (std::size_t i = 0; i < found.all.size(); ++i) {
        const Iteration& it = found.all[i];
        rows[{it.engine, true, it.phase()}].push_back(i);
        if (it.state == IterationState::steady) rows[{it.engine, false, it.phase()}].push_back(i);
    }
    ServingPhases phases;
    std::map<std::pair<std::size_t, bool>, DurNs> whole;
    for (auto& [key, of] : rows) {
        PhaseTotals& to = phases.totals.emplace_back(totals_of(facts, found, kernels, of));
        to.steady = !std::get<1>(key);
        whole[{to.engine, to.steady}] += to.wall;
    }
    for (PhaseTotals& to : phases.totals)
        if (DurNs all = whole[{to.engine, to.steady}]; all > 0)
            to.share = 100 * static_cast<double>(to.wall) / static_cast<double>(all);
    add_larger_batches(facts, found, phases.totals);
    return phases;
}

}  // namespace gpuprof::facts
