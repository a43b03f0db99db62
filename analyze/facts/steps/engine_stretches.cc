// Stretches of an engine's thread that a change could remove: sampling on the host, and the host's work between two steps.
//
// A host that samples has the logits copied to it in most steps: of each row as many bytes as the vocabulary needs. It waits for
// them, and copies the ids that it chose back, or copies no ids to the host, because it has them. Offloaded blocks of a KV cache
// and logits for a client do neither.
#include <algorithm>
#include <map>

#include "analyze/facts/host/host_copies.h"
#include "analyze/facts/idle/host_sleeps.h"
#include "analyze/facts/idle/waits.h"
#include "analyze/facts/steps/iterations.h"

namespace gpuprof::inline facts {
namespace {

// Logits of a row: from 30,000 words of 16 bits (BERT has 30,522, Llama 2 32,000) to 512,000 of 32.
constexpr std::int64_t kLeastLogits = 60'000, kMostLogits = 2'048'000;
constexpr std::int64_t kMostIds = 65'536;  // bytes of the ids of a batch
constexpr DurNs kReturnsEarly = 10'000;    // a wait may return this long before the record of its copy ends
constexpr double kMostSteps = 0.5;         // of those with requests, in which a host that samples does so
constexpr std::size_t kLeastSampled = 3;   // steps

// A call of the engine's thread that submits work, and the copy that it submits.
struct Submitted {
    Interval call;
    Row copy = kNoRow;
    TimeNs done = 0;  // end of the copy
};

std::vector<Submitted> submitted_by(const Trace& trace, StringId thread) {
    const ApiCallTable& calls = trace.api_call();
    std::vector<Submitted> found;
    auto look = [&](const auto& table, const PodVector<Row>& launches, bool copies) {
        for (Row row = 0; row < table.rows; ++row) {
            Row call = launches[row];
            if (call == kNoRow || calls.thread.value_or(call, kNoString) != thread) continue;
            TimeNs start = calls.start[call];
            found.push_back(
                {{start, start + calls.dur[call]}, copies ? row : kNoRow, table.start[row] + table.dur[row]});
        }
    };
    look(trace.kernel(), trace.links().kernel_launch, false);
    look(trace.memcpy(), trace.links().memcpy_launch, true);
    look(trace.memset(), trace.links().memset_launch, false);
    std::sort(found.begin(), found.end(),
              [](const Submitted& a, const Submitted& b) { return a.call.start < b.call.start; });
    auto same = [](const Submitted& a, const Submitted& b) { return a.call.start == b.call.start; };
    found.erase(std::unique(found.begin(), found.end(), same), found.end());
    return found;
}

struct LogitsCopy {
    std::size_t step = 0;  // of Iterations::all
    std::int64_t bytes = 0;
    Interval stretch, wait;
    Row copy = kNoRow, ids = kNoRow;
    bool no_result = true;  // no ids were copied to the host in the step
};

class SamplingFinder {
public:
    SamplingFinder(const Trace& trace, const Iterations& found, std::size_t engine, const Intervals* waits,
                   const std::vector<Submitted>& submitted)
        : trace_(trace), paths_(trace), found_(found), engine_(engine), waits_(waits), submitted_(submitted) {}

    // The copies of logits of one vocabulary; empty if the host does not sample.
    std::vector<LogitsCopy> find() {
        std::map<std::int64_t, std::vector<LogitsCopy>> by_row_bytes;
        std::size_t at = 0, steps = 0;
        for (std::size_t i = 0; i < found_.all.size(); ++i) {
            const Iteration& it = found_.all[i];
            if (it.engine != engine_ || !it.ran || !it.has_requests()) continue;
            ++steps;
            while (at < submitted_.size() && submitted_[at].call.start < it.host_start) ++at;
            look_in(i, at, by_row_bytes);
        }
        std::vector<LogitsCopy> most;
        for (auto& [bytes, copies] : by_row_bytes)
            if (copies.size() > most.size()) most = std::move(copies);
        auto samples = [](const LogitsCopy& each) { return each.ids != kNoRow || each.no_result; };
        auto sampled = static_cast<std::size_t>(std::count_if(most.begin(), most.end(), samples));
        if (sampled < kLeastSampled || static_cast<double>(sampled) < kMostSteps * static_cast<double>(steps))
            return {};
        return most;
    }

private:
    std::int64_t bytes_of(Row copy) const { return trace_.memcpy().bytes.value_or(copy, 0); }

    void look_in(std::size_t step, std::size_t from, std::map<std::int64_t, std::vector<LogitsCopy>>& to) {
        const Iteration& it = found_.all[step];
        std::optional<LogitsCopy> logits;
        bool result = false;
        for (std::size_t i = from; i < submitted_.size() && submitted_[i].call.start < it.next; ++i) {
            Row copy = submitted_[i].copy;
            if (copy == kNoRow || !paths_.to_host(copy)) continue;
            result = result || (bytes_of(copy) > 0 && bytes_of(copy) <= kMostIds);
            if (bytes_of(copy) >= kLeastLogits) logits = copied(step, i);
        }
        if (!logits) return;
        logits->no_result = !result || logits->bytes <= kMostIds;
        for (std::int64_t row : rows_of(*logits)) to[row].push_back(*logits);
    }

    // Absent if the host does not wait for the copy before it submits more.
    std::optional<LogitsCopy> copied(std::size_t step, std::size_t at) const {
        if (waits_ == nullptr) return std::nullopt;
        const Submitted& copy = submitted_[at];
        const Submitted* next = at + 1 < submitted_.size() ? &submitted_[at + 1] : nullptr;
        auto wait = std::partition_point(waits_->begin(), waits_->end(), [&](const Interval& each) {
            return each.start < copy.call.start || each.end + kReturnsEarly < copy.done;
        });
        if (wait == waits_->end() || (next != nullptr && wait->start >= next->call.start)) return std::nullopt;
        LogitsCopy found;
        found.step = step;
        found.copy = copy.copy;
        found.bytes = bytes_of(copy.copy);
        found.wait = *wait;
        found.stretch = {copy.call.start, std::max(copy.call.end, wait->end)};
        if (next == nullptr || next->call.start >= found_.all[step].next) return found;
        found.stretch.end = std::max(found.stretch.end, next->call.start);
        bool ids = next->copy != kNoRow && paths_.to_device(next->copy) && bytes_of(next->copy) <= kMostIds;
        if (!ids) return found;
        found.ids = next->copy;
        found.stretch.end = std::max(found.stretch.end, next->call.end);
        return found;
    }

    // Bytes of a row that the batch allows: of each request, or of each token, if drafts are verified.
    std::vector<std::int64_t> rows_of(const LogitsCopy& copy) const {
        const ServingBatch& batch = found_.all[copy.step].batch;
        std::vector<std::int64_t> rows;
        for (const std::optional<std::int64_t>& count : {batch.requests, batch.decode_tokens, batch.decode_requests}) {
            if (!count || *count <= 0 || copy.bytes % *count != 0) continue;
            std::int64_t row = copy.bytes / *count;
            bool known = std::find(rows.begin(), rows.end(), row) != rows.end();
            if (!known && row >= kLeastLogits && row <= kMostLogits) rows.push_back(row);
        }
        if (!batch.requests && copy.bytes <= kMostLogits) rows.push_back(copy.bytes);
        return rows;
    }

    const Trace& trace_;
    CopyPaths paths_;
    const Iterations& found_;
    std::size_t engine_;
    const Intervals* waits_;
    const std::vector<Submitted>& submitted_;
};

// From the last submission of each iteration to the first of the next one that has any.
IntervalSet gaps_of(const Iterations& found, std::size_t engine, const std::vector<Submitted>& submitted) {
    Intervals gaps;
    for (std::size_t i = 1, at = 0; i < found.all.size(); ++i) {
        const Iteration& it = found.all[i];
        if (it.engine != engine || found.all[i - 1].engine != engine) continue;
        while (at < submitted.size() && submitted[at].call.start < it.host_start) ++at;
        if (at > 0 && at < submitted.size() && submitted[at].call.start > submitted[at - 1].call.end)
            gaps.push_back({submitted[at - 1].call.end, submitted[at].call.start});
    }
    return unite(std::move(gaps));
}

}  // namespace

EngineStretches EngineStretches::make(const Facts& facts) {
    const Iterations& found = facts.get<Iterations>();
    const Trace& trace = facts.trace();
    EngineStretches stretches;
    const Waits& waits = facts.get<Waits>();
    std::vector<std::int64_t> bytes;
    for (std::size_t engine = 0; engine < found.engines.size(); ++engine) {
        StringId thread = found.engines[engine].thread;
        std::vector<Submitted> submitted = submitted_by(trace, thread);
        auto of_thread = waits.of_thread.find(thread);
        const Intervals* waited = of_thread == waits.of_thread.end() ? nullptr : &of_thread->second;
        Intervals sampling;
        for (const LogitsCopy& each : SamplingFinder(trace, found, engine, waited, submitted).find()) {
            sampling.push_back(each.stretch);
            for (Row copy : {each.copy, each.ids})
                if (copy != kNoRow) stretches.sampling_copies.push_back(copy);
            bytes.push_back(each.bytes);
            stretches.host_sampling += std::max<DurNs>(0, each.stretch.end - each.wait.end);
        }
        OfThread& of = stretches.of_thread[thread];
        of.sampling = unite(std::move(sampling));
        of.between = subtract(gaps_of(found, engine, submitted), of.sampling);
        const auto& slept = facts.get<HostSleeps>().of_thread;
        if (auto sleeps = slept.find(thread); sleeps != slept.end())
            of.between = subtract(of.between, sleeps->second.for_work);
    }
    std::sort(stretches.sampling_copies.begin(), stretches.sampling_copies.end());
    stretches.sampled_steps = bytes.size();
    if (!bytes.empty()) {
        std::nth_element(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2), bytes.end());
        stretches.logits_bytes = bytes[bytes.size() / 2];
    }
    return stretches;
}

}  // namespace gpuprof::facts
