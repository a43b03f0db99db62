// Many small copies between host and device, each of which takes longer to submit than to execute.
#include <fmt/format.h>

#include "analyze/facts/context.h"
#include "analyze/facts/host/code_places.h"
#include "analyze/facts/host/host_copies.h"
#include "analyze/facts/shares.h"
#include "analyze/facts/stat.h"
#include "analyze/facts/steps/step_finder.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

// A copy of this size takes about as long on the bus (25 to 55 GB/s) as submitting it takes the host.
constexpr std::int64_t kSmall = 64 * 1024;
constexpr std::size_t kMinCopiesPerStep = 20;
constexpr double kMinSmallCopiesPct = 1;  // percent of the effective window that their calls take

struct SmallCopies {
    std::size_t count = 0;
    DurNs copying_ns = 0, calling_ns = 0;
    WideSum bytes;
    Row longest_call = kNoRow;
};

SmallCopies small_copies(const Trace& trace) {
    SmallCopies found;
    const MemcpyTable& copies = trace.memcpy();
    CopyPaths paths(trace);
    for (Row row = 0; row < copies.rows; ++row) {
        if (!copies.bytes.has(row) || copies.bytes[row] > kSmall || paths.stays_on_device(row)) continue;
        ++found.count;
        found.copying_ns += copies.dur[row];
        found.bytes.add(copies.bytes[row]);
        if (Row call = trace.links().memcpy_launch[row]; call != kNoRow) {
            found.calling_ns += trace.api_call().dur[call];
            if (found.longest_call == kNoRow || trace.api_call().dur[call] > trace.api_call().dur[found.longest_call])
                found.longest_call = call;
        }
    }
    return found;
}

Ruling look_for_small_copies(const Facts& facts) {
    SmallCopies found = small_copies(facts.trace());
    std::size_t steps = std::max<std::size_t>(1, facts.get<Steps>().steps.size());
    if (found.count < kMinCopiesPerStep * steps) return Ruling::silent();
    if (found.longest_call == kNoRow)
        return Ruling::abstain(
            fmt::format("the cost of submitting {} copies of up to 64 KiB is unknown; record CUDA calls",
                        spoken_count(found.count)));
    const Shares& shares = facts.get<Shares>();
    if (shares.effective_pct(found.calling_ns) < kMinSmallCopiesPct) return Ruling::silent();
    Finding finding;
    finding.title = fmt::format("Submitting {} copies of up to 64 KiB costs the host {}", spoken_count(found.count),
                                readable_duration(found.calling_ns));
    finding.evidence.push_back(fmt::format("they run for {} in total and move {} each on average (`memcpy`)",
                                           readable_duration(found.copying_ns),
                                           readable_bytes(found.bytes.over(found.count))));
    finding.place = facts.get<CodePlaces>().of_call(facts, found.longest_call);
    finding.remedy = facts.get<Context>().pytorch()
                         ? "Copy once: stack small tensors on the host and move them together, create constants on the "
                           "GPU, and read metrics back in one tensor every N steps."
                         : "Copy once: put small values into one buffer and move it with one call, create constants on "
                           "the GPU, and read results back together.";
    finding.confidence = Rating::medium;
    finding.basis = Basis::timeline;
    finding.would_change_if = "the host runs far enough ahead to hide the time in these calls";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kSmallCopies{
    "small-copies", "Many small copies between host and device, each of which takes longer to submit than to execute.",
    look_for_small_copies, Effort::edit};

}  // namespace gpuprof::rules
