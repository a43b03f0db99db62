// Remedies for servers of language models, by rule. What helps a training loop (data loaders, gradient buckets, sharded parameters)
// does not exist in a server; what does is in its settings. Names of settings are those of vLLM and SGLang of 2026.
#include "analyze/rules/rule_list.h"

namespace gpuprof::inline rules {
namespace {

struct ServerRemedy {
    std::string_view rule, remedy;  // no remedy: the finding does not apply
    bool of_decoding = false;       // only where decode steps take most of the time
};

constexpr ServerRemedy kServerRemedies[] = {
    {"memory-bound-kernels",
     "Move fewer bytes per token. Decode steps read all weights for one token per request, so run more requests at "
     "once "
     "(max_num_seqs, more memory for the KV cache); quantise weights and the KV cache to 8 or 4 bits; share prefixes "
     "and limit the context. Speculative decoding checks several tokens per read.",
     true},
    {"underfilled-device",
     "Give each step more work: more concurrent requests (max_num_seqs), prompts mixed into decode steps (chunked "
     "prefill, max_num_batched_tokens), CUDA graphs captured at the batch sizes in use, and fused kernels; less tensor "
     "parallelism leaves larger products to each GPU."},
    {"small-kernels",
     "Launch less from the host: capture decode and mixed batches in CUDA graphs (no enforce_eager; "
     "cudagraph_capture_sizes up to the batch sizes in use), full graphs instead of piecewise ones, torch.compile, and "
     "fused kernels."},
    {"synchronisation",
     "Let the host run ahead: schedule the next step while the GPU runs this one (vLLM: async_scheduling; SGLang: "
     "overlap "
     "schedule). Sample on the GPU: penalties, biases and grammars on the CPU wait for every token."},
    {"idle-gaps",
     "Take host work off the path between two steps: asynchronous scheduling (vLLM: async_scheduling; SGLang: overlap "
     "schedule), detokenisation and output in other processes, fewer Python scopes, and "
     "profiling "
     "without stacks and shapes."},
    {"between-steps",
     "Take host work off the path between two steps: asynchronous scheduling (vLLM: async_scheduling; SGLang: overlap "
     "schedule), and detokenisation and output in other processes."},
    {"exposed-communication",
     "Communicate less per token: less tensor parallelism with more replicas, all-reduces fused with normalisation, "
     "custom "
     "or quantised all-reduces; overlap two micro-batches. A straggler makes the other ranks wait inside the "
     "collective."},
    {"small-collectives",
     "Use one-shot or custom all-reduces for small messages, capture them in CUDA graphs, and fuse them with the "
     "normalisation that follows; less tensor parallelism needs fewer of them."},
    {"memory-transfers",
     "Keep inputs and results on the GPU: copy only token ids from pinned memory, and keep the KV cache on the GPU, or "
     "prefetch what was offloaded during a step."},
    {"input-pipeline", ""},
    {"fp32-gradients", ""},
    {"unfused-optimizer", ""},
    {"scattered-updates", ""},
};

}  // namespace

std::optional<std::string_view> server_remedy(std::string_view rule, bool decodes) {
    for (const ServerRemedy& each : kServerRemedies)
        if (each.rule == rule && (decodes || !each.of_decoding)) return each.remedy;
    return std::nullopt;
}

}  // namespace gpuprof::rules
