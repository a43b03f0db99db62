// Rules about moving and holding data: copies between host and device, allocation, communication between devices.
#include <fmt/format.h>

#include <map>

#include "core/analyze/activity.h"
#include "core/analyze/call_kind.h"
#include "core/analyze/findings/rule.h"
#include "core/analyze/stat.h"
#include "core/base/readable.h"

namespace gpuprof {
namespace {

constexpr double kWorthSaying = 3;  // percent of the effective window

std::string ns(DurNs dur) { return readable_duration(static_cast<double>(dur)); }

}  // namespace

void look_for_transfers(Case& look) {
    const Shares& shares = look.shares();
    DurNs cost = shares.exposed_memcpy + shares.idle_of(IdleCause::host_memcpy);
    if (shares.effective_pct(cost) < kWorthSaying) return;
    const MemcpyTable& copies = look.trace().memcpy();
    DurNs pageable = 0, total = 0;
    WideSum bytes;
    for (Row row = 0; row < copies.rows; ++row) {
        std::string_view kind = look.trace().text(copies.kind.value_or(row, kNoString));
        if (kind != "HtoD" && kind != "DtoH") continue;
        total += copies.dur[row];
        bytes.add(copies.bytes.value_or(row, 0));
        std::string_view src = look.trace().text(copies.src.value_or(row, kNoString)),
                         dst = look.trace().text(copies.dst.value_or(row, kNoString));
        if (src == "pageable" || dst == "pageable") pageable += copies.dur[row];
    }
    Finding finding;
    finding.id = "memory-transfers";
    finding.cost_ns = cost;
    finding.title = fmt::format("Copies that nothing hides take {} % of the time", readable_percent(shares.pct(cost)));
    finding.evidence.push_back(
        fmt::format("{} of copies run while no kernel does (`devices`: exposed_memcpy_ns)", ns(shares.exposed_memcpy)));
    if (shares.idle_of(IdleCause::host_memcpy) > 0) finding.evidence.push_back(look.idle(IdleCause::host_memcpy));
    if (total > 0)
        finding.evidence.push_back(
            fmt::format("host copies move {} in {}; {} of that time from or to pageable memory (`memcpy`)",
                        readable_bytes(bytes.real()), ns(total), ns(pageable)));
    finding.remedy = pageable > 0 ? "Pin the host buffers (pin_memory=True), copy with non_blocking=True on a stream "
                                    "of their own, prefetch the next batch, keep "
                                    "data on the GPU between steps."
                                  : "Overlap copies with kernels: non_blocking=True, a copy stream, prefetch; keep "
                                    "data on the GPU between steps.";
    finding.confidence = Weight::high;
    finding.would_change_if = "the copies overlapped kernels";
    look.add(std::move(finding));
}

void look_for_allocation_churn(Case& look) {
    const ApiCallTable& calls = look.trace().api_call();
    if (calls.rows == 0) return look.abstain("allocation-churn", "CUDA calls were not recorded");
    TimeNs steady =
        look.trace().window().start + look.trace().window().length() / 4;  // start-up allocates legitimately
    DurNs spent = 0;
    std::uint64_t count = 0;
    StringId example = kNoString;
    Intervals spans;
    for (Row row = 0; row < calls.rows; ++row) {
        if (calls.start[row] < steady || !calls.name.has(row) ||
            kind_of_call(look.trace().text(calls.name[row])) != CallKind::allocation)
            continue;
        spent += calls.dur[row];
        ++count;
        example = calls.name[row];
    }
    if (look.shares().effective_pct(spent) < kWorthSaying || count < 4) return;
    Finding finding;
    finding.id = "allocation-churn";
    finding.cost_ns = spent;
    finding.title = fmt::format("{} allocations and frees in the steady state block the host for {}",
                                readable_count(static_cast<std::int64_t>(count)), ns(spent));
    finding.evidence.push_back(fmt::format("{}: {} and the like after the first quarter of the window",
                                           look.row("api", "name", look.trace().text(example)),
                                           look.trace().text(example)));
    if (look.shares().idle_of(IdleCause::allocation) > 0) finding.evidence.push_back(look.idle(IdleCause::allocation));
    finding.remedy =
        "Allocate once and reuse: the framework's caching allocator (cudaFree also synchronises), cudaMallocAsync "
        "pools, "
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True against fragmentation retries.";
    finding.confidence = Weight::high;
    finding.would_change_if = "the calls belong to start-up or shutdown";
    look.add(std::move(finding));
}

void look_for_exposed_communication(Case& look) {
    const Shares& shares = look.shares();
    DurNs cost = shares.exposed_comm + shares.idle_of(IdleCause::communication_wait);
    if (shares.effective_pct(cost) < kWorthSaying) return;
    Finding finding;
    finding.id = "exposed-communication";
    finding.cost_ns = cost;
    finding.title =
        fmt::format("Communication that nothing hides takes {} % of the time", readable_percent(shares.pct(cost)));
    finding.evidence.push_back(
        fmt::format("{} of collectives run while no other kernel does (`devices`: exposed_comm_ns; `collectives`)",
                    ns(shares.exposed_comm)));
    for (std::size_t i = 0; i < look.kernels().size(); ++i)
        if (look.kernels()[i].traits.kind == KernelClass::collective) {
            finding.evidence.push_back(look.kernel(i));
            break;
        }
    finding.remedy =
        "Overlap collectives with computation (gradient buckets, a stream of their own), tune bucket sizes, "
        "communicate less often or in lower "
        "precision; a rank that arrives late makes the others wait inside the collective.";
    finding.confidence = Weight::medium;
    finding.would_change_if = "traces of all ranks showed that the time is spent waiting for a late rank";
    look.add(std::move(finding));
}

}  // namespace gpuprof
