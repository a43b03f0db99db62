// Sources: NVIDIA's guide on replay (what cannot be replayed), and reports of hangs with NCCL under replay.
#include "collect/counters/skips.h"

#include <fmt/format.h>

#include <array>

namespace gpuprof::counters {
namespace {

struct Reason {
    std::string_view what, why_and_remedy;
};
using spool::CounterSkip;
constexpr std::array<Reason, static_cast<std::size_t>(CounterSkip::kinds)> kReasons{{
    {"kernels that wait for other GPUs (NCCL, NVSHMEM)",
     "replaying one would hang; measure them without replay: --set triage --range nvtx:NAME"},
    {"cooperative launches on several GPUs", "CUPTI cannot replay them; use --set triage --range nvtx:NAME"},
    {"launches during stream capture",
     "those of the captured stream go into a CUDA graph and do not run, and measuring the others could break the "
     "capture; use --set triage --range nvtx:NAME around the graph's launch"},
    {"launches of CUDA graphs",
     "graphs are not replayed node by node; run without graphs, or use --set triage --range nvtx:NAME"},
    {"launches after the budget was used up", "raise --budget, or measure fewer counters or kernels"},
    {"launches while another thread measured", "their counters would mix with the other kernel's; measure one thread"},
    {"launches that CUPTI refused to measure", "see the message of CUPTI"},
    {"launches on GPUs of another kind", "the counters were planned for one kind; choose it with CUDA_VISIBLE_DEVICES"},
    {"launches after CUPTI had refused for good", "see the message of CUPTI"},
}};

}  // namespace

std::string explain_skip(CounterSkip reason, const Skipped& skipped) {
    auto index = static_cast<std::size_t>(reason);
    Reason known = index < kReasons.size() ? kReasons[index] : Reason{"launches", "for an unknown reason"};
    return fmt::format("{} {}{}: {}", skipped.count, known.what,
                       skipped.first.empty() ? "" : fmt::format(" (first: {})", skipped.first), known.why_and_remedy);
}

}  // namespace gpuprof::counters
