#include "analyze/facts/practices.h"

#include <algorithm>

#include "analyze/facts/facts.h"
#include "analyze/facts/kernels/kernel_bound.h"
#include "analyze/knowledge/host_names.h"
#include "core/base/text/ascii.h"

namespace gpuprof::inline facts {
namespace {

bool is_half(MathType type) {
    switch (type) {
        case MathType::fp16:
        case MathType::bf16:
        case MathType::fp16_or_bf16:
        case MathType::fp8:
        case MathType::fp4:
        case MathType::int8: return true;
        default: return false;
    }
}

// Most kernels share their call with others: a call that launches several is that of a graph.
bool mostly_graphs(const Trace& trace) {
    std::vector<bool> is_graph(trace.strings().size());  // texts are fewer than calls
    for (std::size_t i = 0; i < is_graph.size(); ++i)
        is_graph[i] = contains(trace.strings()[static_cast<StringId>(i)], "GraphLaunch");
    if (std::find(is_graph.begin(), is_graph.end(), true) == is_graph.end()) return false;
    std::size_t of_graphs = 0;
    for (Row kernel = 0; kernel < trace.kernel().rows; ++kernel) {
        Row call = trace.links().kernel_launch[kernel];
        if (call == kNoRow || !trace.api_call().name.has(call)) continue;
        of_graphs += is_graph[index_of(trace.api_call().name[call])];
    }
    return 2 * of_graphs > trace.kernel().rows;
}

}  // namespace

Practices Practices::make(const Facts& facts) {
    Practices found;
    const Trace& trace = facts.trace();
    DurNs products = 0, half = 0, all = 0, compiled = 0, convolutions = 0, nhwc = 0, converted = 0;
    for (const KernelGroup& group : facts.get<KernelGroups>().groups) {
        std::string_view name = trace.text(group.name);
        all += group.total_ns;
        if (is_matrix_product(group.traits) && group.traits.math.type != MathType::unknown) {
            products += group.total_ns;
            if (is_half(group.traits.math.type)) half += group.total_ns;
        }
        if (group.traits.kind == KernelClass::triton) compiled += group.total_ns;
        if (group.traits.kind == KernelClass::convolution) {
            convolutions += group.total_ns;
            if (contains_any(name, {"nhwc", "NHWC"})) nhwc += group.total_ns;
        }
        if (contains_any(name, {"nchwToNhwc", "nhwcToNchw"})) converted += group.total_ns;
        if (group.traits.kind != KernelClass::optimizer) continue;
        found.foreach_optimizer = true;
        found.fused_optimizer = found.fused_optimizer || contains_any(name, {"Fused", "fused"});
    }
    found.half_products = 2 * half > products;
    found.compiled = 4 * compiled > all;
    // cuDNN's NHWC kernels also serve NCHW tensors, which it converts before and after.
    found.channels_last = 2 * nhwc > convolutions && 50 * converted < convolutions;
    found.graphs = mostly_graphs(trace);
    return found;
}

}  // namespace gpuprof::facts
