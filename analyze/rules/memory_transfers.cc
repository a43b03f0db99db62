// Copies between host and device that no kernel overlaps.
#include <fmt/format.h>

#include "analyze/facts/context.h"
#include "analyze/facts/host/code_places.h"
#include "analyze/facts/host/host_copies.h"
#include "analyze/facts/shares.h"
#include "analyze/replay/gain.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

// Copies of this size and duration on average carry numbers, not data: their cost is the wait, whatever the link.
constexpr double kSmallCopyBytes = 4096, kSmallCopyNs = 20'000;
constexpr double kLeastBytesOfRate = 1 << 20;  // of fewer, a rate says nothing about the link

// For programs that copy most of the time.
const std::string kCopyLess =
    "Copy less: keep what every step needs on the GPU (parameters and optimizer states that are offloaded to the host "
    "travel in every step), and send smaller types. ";

// "1.20 GiB from the GPU in 650 ms (1.98 GB/s)"; "" if nothing went that way.
std::string direction_line(std::string_view way, double bytes, DurNs time) {
    if (time <= 0) return "";
    std::string line = fmt::format("{} {} in {}", readable_bytes(bytes), way, readable_duration(time));
    if (bytes >= kLeastBytesOfRate) line += fmt::format(" ({:.3g} GB/s)", bytes / static_cast<double>(time));
    return line;
}

std::string remedy_for_memory_transfers(const Context& context, const HostCopies& copies) {
    // Pinning helps only if pageable copies are a relevant part.
    bool pin = 5 * copies.pageable > copies.total;
    bool small = copies.count > 0 && copies.bytes.real() < kSmallCopyBytes * static_cast<double>(copies.count) &&
                 static_cast<double>(copies.total) < kSmallCopyNs * static_cast<double>(copies.count);
    bool to_host = 2 * copies.to_host > copies.total;
    if (small && context.pytorch())
        return "Create small tensors on the GPU instead of copying them (torch.full, torch.arange, torch.zeros with "
               "device=...), keep "
               "scalars as Python numbers where an operator takes them, and fetch results of several steps in one "
               "copy.";
    if (small)
        return "Pass small values as kernel arguments or compute them on the GPU, and gather what is left in one copy.";
    if (to_host && context.pytorch())
        return fmt::format(
            "{}Copy less back: reduce on the GPU first, and fetch results every N steps. Copy with non_blocking=True "
            "on a "
            "separate stream while the next step runs.",
            pin ? "Copy into pinned host buffers (torch.empty(..., pin_memory=True)). " : "");
    if (context.pytorch())
        return fmt::format(
            "{}Copy with non_blocking=True on a separate stream, prefetch the next batch, and keep data on the GPU "
            "between steps.",
            pin ? "Pin the host buffers (pin_memory=True). " : "");
    if (context.framework == Framework::jax)
        return "Copy the next batch to the GPU while this one is computed, donate buffers, and keep data on the GPU "
               "between steps.";
    if (context.directives)
        return "Keep data on the GPU: use a data region around the loop (enter data, present), update only what "
               "changed, and copy asynchronously.";
    return fmt::format(
        "{}Copy with cudaMemcpyAsync on a separate stream so that copies overlap kernels, keep data on the GPU between "
        "steps, and copy less.",
        pin ? "Pin the host buffers (cudaHostAlloc, cudaHostRegister). " : "");
}

// Of the longest copy between host and device.
std::string place_of_copies(const Facts& facts) {
    const Trace& trace = facts.trace();
    const MemcpyTable& copies = trace.memcpy();
    CopyPaths paths(trace);
    Row longest = kNoRow;
    for (Row row = 0; row < copies.rows; ++row)
        if (paths.host_and_device(row) && (longest == kNoRow || copies.dur[row] > copies.dur[longest])) longest = row;
    return longest == kNoRow ? "" : facts.get<CodePlaces>().of_call(facts, trace.links().memcpy_launch[longest]);
}

Ruling look_for_memory_transfers(const Facts& facts) {
    const Shares& shares = facts.get<Shares>();
    Finding finding;
    const Gain& gain = gain_without(facts, Waste::copies);
    if (gain.pct < kMinFindingPct) return Ruling::silent();
    set_cost(finding, gain);
    const HostCopies& copies = facts.get<HostCopies>();
    std::string_view which =
        2 * copies.to_host > copies.total ? "Copies from the GPU to the host" : "Copies between host and device";
    bool too_long_to_hide = !gain.predicted && 2 * shares.exposed_memcpy > shares.window;
    if (too_long_to_hide) finding.cost_ns = shares.exposed_memcpy;
    if (gain.predicted)
        finding.title = fmt::format("{} cost {} % of a step", which, readable_percent(gain.pct));
    else if (too_long_to_hide)
        finding.title =
            fmt::format("{} take {}, too much to hide behind kernels", which, share_text(facts, finding.cost_ns));
    else
        finding.title = fmt::format("Hiding copies behind kernels would save {}", share_text(facts, gain.ns));
    std::string back = direction_line("from the GPU", copies.bytes_to_host.real(), copies.to_host);
    std::string there =
        direction_line("to the GPU", copies.bytes.real() - copies.bytes_to_host.real(), copies.total - copies.to_host);
    for (const std::string& line :
         {2 * copies.to_host > copies.total ? back : there, 2 * copies.to_host > copies.total ? there : back})
        if (!line.empty()) finding.evidence.push_back(line);
    finding.evidence.push_back(fmt::format("copies run for {} while no kernel runs (`devices`: exposed_memcpy_ns)",
                                           readable_duration(shares.exposed_memcpy)));
    if (shares.idle_of(IdleCause::host_memcpy) > 0)
        finding.evidence.push_back(idle_line(facts, IdleCause::host_memcpy));
    if (copies.total > 0)
        finding.evidence.push_back(fmt::format("{} copies: {} with pageable memory, {} with pinned memory (`memcpy`)",
                                               spoken_count(copies.count), readable_duration(copies.pageable),
                                               readable_duration(copies.pinned)));
    finding.place = place_of_copies(facts);
    finding.remedy = (too_long_to_hide ? kCopyLess : "") + remedy_for_memory_transfers(facts.get<Context>(), copies);
    finding.confidence = Rating::high;
    finding.basis = Basis::timeline;
    finding.would_change_if = "the copies overlap kernels";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kMemoryTransfers{"memory-transfers", "Copies between host and device that no kernel overlaps.",
                            look_for_memory_transfers, Effort::option, true};

}  // namespace gpuprof::rules
