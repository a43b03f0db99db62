// What can be changed in a replay: each change sets lengths to what they would be, or drops edges that would no longer hold.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/replay/graph.h"
#include "analyze/replay/kernel_speed.h"
#include "core/base/result.h"
#include "core/model/answer.h"

namespace gpuprof::inline replay {

enum class Change : std::uint8_t {
    input,            // batches are ready when asked for
    waits,            // calls do not wait for the device
    device_sampling,  // a server samples on the device: no copy of logits, and no wait for it
    between_steps,    // what the program does between steps takes no time
    pinned_copies,    // copies of pageable memory come from pinned memory and do not block
    copy_stream,      // ... and copies to the device have a stream of their own
    copies,           // copies between host and device take no time
    allocation,       // allocations and releases take no time
    long_host_code,   // long stretches of host code in the loop take no time
    host_code,        // host code in the loop takes no time; calls stay
    cuda_graph,       // launches of a step become nodes of a CUDA graph
    fusion,           // chains of elementwise kernels become one kernel
    tensor_cores,     // FP32 matrix products on CUDA cores run on tensor cores
    bf16_products,    // matrix products in TF32 run in 16 bits
    fused_optimizer,  // optimizers update all tensors with few kernels
    fused_attention,  // one kernel instead of products and passes over the scores of attention
    padded_products,  // matrix products by slow kernels for odd sizes or old GPUs take kernels for aligned sizes
    one_layout,       // kernels that only change the layout of data are not needed
    kernel_peaks,     // kernels of operators with recorded shapes come near the device's peaks
    late_ranks,       // collectives wait for no rank that comes late
    communication,    // transfers of collectives take no time: fully hidden
    kernels,          // kernels whose name matches a pattern take another time
};
inline constexpr std::size_t kChanges = static_cast<std::size_t>(Change::kernels) + 1;
// All but the last, which needs a pattern.
inline constexpr std::size_t kUsualChanges = kChanges - 1;

// Host code between two calls that takes longer than this does more than launching: a graph does not save it.
inline constexpr DurNs kMaxLaunching = 200'000;

// A change and how far it goes.
struct Edit {
    Change change = Change::input;
    double factor = 0;       // of the time that it changes; only 0 for changes that are made or not
    std::string pattern;     // of kernel names: a POSIX extended regular expression
    std::size_t kernel = 0;  // instead of a pattern: N of the handle k-N
    bool operator==(const Edit&) const = default;
};
// A change that goes all the way.
inline Edit usual_edit(Change change) { return {change, 0, "", 0}; }
// As on the command line: "input", "input=0.5", "kernel:gemm=0.5", "k-1=0.5".
std::string text_of(const Edit& edit);
// Reads edits separated by semicolons. A change without a factor goes all the way.
Result<std::vector<Edit>> parse_edits(std::string_view text);

// What is known of a change.
struct ChangeRule {
    std::string_view name;  // on the command line and in JSON
    std::string_view assumes;
    Effort effort;
    bool scales;     // by any factor; otherwise it is made or not
    bool estimated;  // how much it saves has a low and a high estimate
    bool limit;      // shows how far a change could go, and is no advice: never part of a plan
    bool rough;      // no pair of recordings has shown how well such changes are predicted
    // Makes the change; false if the recording has nothing that it would change.
    bool (*apply)(const Edit& edit, const Facts& facts, const ReplayGraph& graph, Scenario& scenario,
                  Estimate estimate);
};
const ChangeRule& rule_of(Change change);
// The names of the usual changes.
std::vector<std::string_view> usual_change_names();

inline bool apply(const Edit& edit, const Facts& facts, const ReplayGraph& graph, Scenario& scenario,
                  Estimate estimate = Estimate::central) {
    return rule_of(edit.change).apply(edit, facts, graph, scenario, estimate);
}

// Removes what recording cost: from host time by the number of records, and between device ops. False if the recorder's cost is
// unknown or 0.
bool remove_recorder(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate);

}  // namespace gpuprof::replay
