// Kernels that wait for pages of managed memory.
#include <fmt/format.h>

#include "analyze/facts/context.h"
#include "analyze/facts/memory/managed_migrations.h"
#include "analyze/facts/shares.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/readable.h"
#include "core/model/managed_memory.h"

namespace gpuprof::inline rules {
namespace {

std::string remedy_for_managed_memory(const Context& context, bool oversubscribed) {
    std::string text =
        context.directives
            ? "Move data before kernels use it: data regions (enter data, update) instead of managed memory."
            : "Move pages before kernels use them: cudaMemPrefetchAsync on the stream of the kernel, and back to the "
              "host "
              "before it reads the results. Advise the driver with cudaMemAdvise: cudaMemAdviseSetReadMostly for "
              "input, "
              "cudaMemAdviseSetPreferredLocation for data that stays. Or copy explicitly, with cudaMalloc and "
              "cudaMemcpyAsync.";
    return oversubscribed ? text + " Pages were evicted, so keep the data in use within the memory of the GPU." : text;
}

// Whether the program allocates managed memory.
bool uses_managed_memory(const Trace& trace) {
    const MemoryEventTable& events = trace.tables().memory_event;
    StringId managed = trace.strings().find(kManagedMemory);
    for (Row row = 0; managed != kNoString && row < events.rows; ++row)
        if (events.category.value_or(row, kNoString) == managed) return true;
    for (std::string_view name : {"cudaMallocManaged", "cuMemAllocManaged"}) {
        StringId call = trace.strings().find(name);
        const ApiCallTable& calls = trace.api_call();
        for (Row row = 0; call != kNoString && row < calls.rows; ++row)
            if (calls.name.value_or(row, kNoString) == call) return true;
    }
    return false;
}

Ruling look_for_managed_memory(const Facts& facts) {
    const ManagedMigrations& migrations = facts.get<ManagedMigrations>();
    const Trace& trace = facts.trace();
    if (migrations.count == 0 && migrations.limited == 0) {
        // Nsight Systems records migrations with CUDA.
        bool recorded = trace.origin().recorder_of_work().find("Nsight Systems") != std::string::npos;
        return !recorded && trace.kernel().rows > 0 && uses_managed_memory(trace)
                   ? Ruling::abstain(
                         "the program uses managed memory, whose migrations were not recorded; record them with nsys "
                         "profile --trace=cuda --cuda-um-gpu-page-faults=true")
                   : Ruling::silent();
    }
    if (migrations.cause_unknown)
        return Ruling::abstain(
            "managed memory migrated and was prefetched, and the recording does not say which migrations kernels "
            "waited "
            "for; record with nsys profile --trace=cuda");
    const Shares& shares = facts.get<Shares>();
    DurNs waiting = static_cast<DurNs>(static_cast<double>(migrations.waiting) * shares.overlap);
    if (shares.effective_pct(waiting) < kMinFindingPct) return Ruling::silent();
    Finding finding;
    // Prefetching moves the same pages, in larger pieces and without faults.
    finding.cost_ns = static_cast<DurNs>(static_cast<double>(migrations.waiting - migrations.moving) * shares.overlap);
    finding.title = fmt::format("Kernels wait {} for pages of managed memory", share_text(facts, waiting));
    finding.evidence.push_back(fmt::format(
        "{} moved {} in {} while such kernels ran; with the handling of faults, the kernels waited {} of {} "
        "(`unified_memory`)",
        readable_count(migrations.in_kernels, "migration"), readable_bytes(migrations.bytes_in_kernels.real()),
        readable_duration(migrations.moving), readable_duration(migrations.waiting),
        readable_duration(migrations.limited)));
    if (migrations.faults_in_kernels.real() > 0)
        finding.evidence.push_back(
            fmt::format("{:.0f} page faults of the GPU in these kernels", migrations.faults_in_kernels.real()));
    if (migrations.evictions > 0)
        finding.evidence.push_back(
            fmt::format("{} to the host made room on the GPU", readable_count(migrations.evictions, "migration")));
    push_kernel_lines(
        facts, [](const KernelGroup& group) { return of_bound(group, Bound::migration); }, finding);
    finding.remedy = remedy_for_managed_memory(facts.get<Context>(), migrations.evictions > 0);
    finding.confidence = Rating::medium;
    finding.basis = Basis::timeline;
    finding.would_change_if = "the kernels take as long after their pages were prefetched";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kPageMigrations{"managed-memory", "Kernels that wait for pages of managed memory.", look_for_managed_memory,
                           Effort::edit};

}  // namespace gpuprof::rules
