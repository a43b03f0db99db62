// The device waits while the host fetches or prepares input.
#include <fmt/format.h>

#include "analyze/facts/context.h"
#include "analyze/facts/shares.h"
#include "analyze/replay/gain.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/ascii.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

// PyTorch's DataLoader names its ranges after its iterator: enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__.
enum class Loader { unknown, in_process, with_workers };

// `name`: of its range.
Loader loader_of(const Trace& trace, std::string_view& name) {
    for (Row row = 0; row < trace.range().rows; ++row) {
        name = trace.text(trace.range().name.value_or(row, kNoString));
        if (contains(name, "SingleProcessDataLoader")) return Loader::in_process;
        if (contains(name, "MultiProcessingDataLoader")) return Loader::with_workers;
    }
    name = {};
    return Loader::unknown;
}

std::string remedy_for_input_pipeline(const Facts& facts, Loader loader) {
    if (loader == Loader::with_workers)
        return "The DataLoader's workers do not keep up: raise num_workers (up to the CPUs this process has) and "
               "prefetch_factor; make augmentation cheaper, precompute it, or move it to the GPU.";
    if (loader == Loader::in_process)
        return "Set num_workers > 0 in the DataLoader; batches are currently prepared in the training process. Then "
               "set prefetch_factor, persistent_workers and pin_memory=True; after that, make augmentation cheaper, "
               "precompute it, or move it to the GPU.";
    switch (facts.get<Context>().framework) {
        case Framework::pytorch:
            return "Prepare batches ahead of the GPU: set num_workers, prefetch_factor, persistent_workers and "
                   "pin_memory=True in the DataLoader; make augmentation cheaper, precompute it, or move it to the "
                   "GPU.";
        case Framework::jax:
        case Framework::tensorflow:
            return "Prepare batches ahead of the GPU: use tf.data with prefetch(AUTOTUNE) and parallel map, or Grain "
                   "with workers; copy the next batch to the GPU while this one is computed.";
        default:
            return "Prepare input ahead of the GPU: read and decode on other threads, queue the next batches, and copy "
                   "them from pinned memory on a separate stream.";
    }
}

Ruling look_for_input_pipeline(const Facts& facts) {
    Finding finding;
    const Gain& gain = gain_without(facts, Waste::input);
    if (gain.pct < kMinFindingPct) return Ruling::silent();
    set_cost(finding, gain);
    finding.title = gain.predicted ? fmt::format("Waiting for input costs {} % of a step", readable_percent(gain.pct))
                                   : fmt::format("The GPU waits for the input pipeline {}", share_text(facts, gain.ns));
    finding.evidence.push_back(idle_line(facts, IdleCause::input_pipeline));
    push_gap_lines(facts, IdleCause::input_pipeline, finding);
    std::string_view range;
    Loader loader = loader_of(facts.trace(), range);
    if (finding.place == range) finding.place.clear();  // the remedy names the loader
    if (loader == Loader::in_process)
        finding.evidence.push_back("the DataLoader runs inside the training process (num_workers=0)");
    finding.remedy = remedy_for_input_pipeline(facts, loader);
    finding.confidence = Rating::high;
    finding.basis = Basis::timeline;
    finding.would_change_if = "the loader's range overlaps GPU work, or its name does not mean loading";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kInputPipeline{"input-pipeline", "The GPU waits while the host fetches or prepares input.",
                          look_for_input_pipeline, Effort::option, true};

}  // namespace gpuprof::rules
