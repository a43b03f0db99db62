// Texts of vLLM (requests 22496, 31193 and 37524 of its repository), SGLang (23419, 32850, 38630), ATOM, TensorRT-LLM's executor and
// xDiT, read in their sources or seen in recordings. A new dialect is a line of one of two tables: texts whose numbers stand
// at fixed places, and texts in brackets with `key=value` pairs.
#include "analyze/knowledge/serving_names.h"

#include <algorithm>
#include <charconv>

#include "core/base/text/ascii.h"

namespace gpuprof::inline knowledge {
namespace {

using Number = std::optional<std::int64_t>;
using Field = Number ServingBatch::*;

// Numbers in texts are {letters}; {_} is one that is not used.
struct PlaceField {
    std::string_view word;
    Field field;
};
constexpr PlaceField kPlaceFields[] = {
    {"requests", &ServingBatch::requests},
    {"tokens", &ServingBatch::tokens},
    {"context", &ServingBatch::prefill_requests},
    {"context tokens", &ServingBatch::prefill_tokens},
    {"context kv", &ServingBatch::prefill_kv},
    {"generation", &ServingBatch::decode_requests},
    {"generation tokens", &ServingBatch::decode_tokens},
    {"generation kv", &ServingBatch::decode_kv},
};

// The more detailed ones first. What precedes the first number names the dialect, also in texts that were cut.
constexpr std::string_view kTexts[] = {
    "execute_{tokens}_context_{context}(sq{context tokens}sk{context kv}sqsq{_}sqsk{_})"
    "_generation_{generation}(sq{generation tokens}sk{generation kv}sqsq{_}sqsk{_})",
    "execute_context_{context}({context tokens}_{_})_generation_{generation}({generation tokens}_{_})",
    "execute_context_{context}({context tokens}_{_})_generation_{generation}({generation tokens})",
    "execute_context_{context}({context tokens})_generation_{generation}({generation tokens}_{_})",
    "execute_context_{context}({context tokens})_generation_{generation}({generation tokens})",
    "execute_new_{context}_cached_{generation}",
    "[Executor] _forward_step {_}: {context} ctx reqs, {context tokens} ctx tokens, {generation} gen reqs",
    "[Executor] _forward_step {_}: {context} ctx reqs, {generation} gen reqs, {context tokens} ctx tokens",
    "[Executor] _forward_step {_}: {context} ctx reqs, {generation} gen reqs",
    "execute_diffusion_{requests}_{_}x{_}",
};

struct BracketText {
    std::string_view begin;
    ServingPhase phase;
};
constexpr BracketText kBracketTexts[] = {
    {"step[EXTEND ", ServingPhase::prefill},       {"step[SPLIT_PREFILL ", ServingPhase::prefill},
    {"step[DECODE ", ServingPhase::decode},        {"step[MIXED ", ServingPhase::mixed},
    {"step[IDLE ", ServingPhase::dummy},           {"step[VERIFY ", ServingPhase::verify},
    {"step[TARGET_VERIFY ", ServingPhase::verify}, {"step[DRAFT ", ServingPhase::draft},
    {"step[DRAFT_EXTEND ", ServingPhase::draft},   {"step[DRAFT_EXTEND_V2 ", ServingPhase::draft},
    {"decode[bs=", ServingPhase::decode},          {"prefill[bs=", ServingPhase::prefill},
};
constexpr PlaceField kKeys[] = {
    {"bs", &ServingBatch::requests},       {"toks", &ServingBatch::tokens},
    {"tok", &ServingBatch::tokens},        {"c", &ServingBatch::prefill_requests},
    {"g", &ServingBatch::decode_requests}, {"c_sq", &ServingBatch::prefill_tokens},
    {"c_sk", &ServingBatch::prefill_kv},   {"g_sq", &ServingBatch::decode_tokens},
    {"g_sk", &ServingBatch::decode_kv},
};

template <std::size_t N>
Field field_named(const PlaceField (&fields)[N], std::string_view word) {
    auto found = std::find_if(std::begin(fields), std::end(fields), [&](auto& each) { return each.word == word; });
    return found == std::end(fields) ? nullptr : found->field;
}

// Takes a number off the front of `text`; absent if it starts with something else, or is too large.
Number take_number(std::string_view& text) {
    std::int64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || text.front() == '-') return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

enum class Fit : std::uint8_t { no, cut, whole };

Fit fit(std::string_view pattern, std::string_view text, ServingBatch& batch) {
    bool named = false;  // the text names the dialect: it has gone past the first number
    while (!pattern.empty()) {
        if (text.empty()) return named ? Fit::cut : Fit::no;
        if (pattern.front() != '{') {
            if (pattern.front() != text.front()) return Fit::no;
            pattern.remove_prefix(1);
            text.remove_prefix(1);
            continue;
        }
        std::size_t end = pattern.find('}');
        Number value = take_number(text);
        if (!value) return Fit::no;
        if (Field field = field_named(kPlaceFields, pattern.substr(1, end - 1)); field != nullptr) batch.*field = value;
        named = true;
        pattern.remove_prefix(end + 1);
    }
    return text.empty() ? Fit::whole : Fit::no;
}

// The pairs of `bs=117/128 tok=117 ctx=[7803, 6918]]`, which ends with the bracket that closes the text.
bool read_pairs(std::string_view text, ServingBatch& batch, bool& speculative) {
    if (!text.ends_with(']')) return false;
    text.remove_suffix(1);
    while (!text.empty()) {
        std::size_t equals = text.find('=');
        if (equals == text.npos) return false;
        std::string_view key = text.substr(0, equals);
        text.remove_prefix(equals + 1);
        std::size_t depth = 0, end = 0;
        for (; end < text.size() && (text[end] != ' ' || depth > 0); ++end) {
            if (text[end] == '[') ++depth;
            if (text[end] == ']' && depth > 0) --depth;
        }
        std::string_view value = text.substr(0, end);
        text.remove_prefix(std::min(text.size(), end + 1));
        speculative = speculative || (key == "spec" && value != "0");
        if (Field field = field_named(kKeys, key); field != nullptr && !value.empty()) {
            Number number = take_number(value);
            if (!number) return false;
            batch.*field = number;
        }
    }
    return true;
}

Number sum_of(const Number& a, const Number& b) { return a && b ? Number(*a + *b) : std::nullopt; }

// Fills what follows from the rest. `one_kind`: the text names the phase, so that all of a step is of that kind.
void complete(ServingBatch& batch, bool one_kind) {
    using enum ServingPhase;
    if (batch.phase == unknown && batch.prefill_requests && batch.decode_requests) {
        bool prefills = *batch.prefill_requests > 0, decodes = *batch.decode_requests > 0;
        bool several = batch.decode_tokens && *batch.decode_tokens > *batch.decode_requests;
        batch.phase = prefills ? (decodes ? mixed : prefill) : several ? verify : decodes ? decode : empty;
    }
    auto fill = [](Number& to, const Number& from) {
        if (!to) to = from;
    };
    fill(batch.requests, sum_of(batch.prefill_requests, batch.decode_requests));
    if (batch.phase == empty) batch.prefill_tokens = batch.decode_tokens = 0;
    // The first dialects say nothing of tokens, and a running request may still be in its prompt.
    bool tokens = batch.tokens || batch.prefill_tokens || batch.decode_tokens;
    if (!tokens && !one_kind) return;
    if (batch.phase == prefill || batch.phase == decode || batch.phase == verify) {
        bool prefills = batch.phase == prefill;
        fill(prefills ? batch.prefill_requests : batch.decode_requests, batch.requests);
        fill(prefills ? batch.decode_requests : batch.prefill_requests, 0);
        if (batch.phase == decode) fill(batch.tokens, batch.decode_requests);
        fill(prefills ? batch.prefill_tokens : batch.decode_tokens, batch.tokens);
        fill(prefills ? batch.decode_tokens : batch.prefill_tokens, 0);
    }
    fill(batch.tokens, sum_of(batch.prefill_tokens, batch.decode_tokens));
}

struct FrameName {
    std::string_view file, function;  // parts of the path, and the whole name
    ServingPart part;
};
constexpr FrameName kFrames[] = {
    {"v1/engine/core.py", "step", ServingPart::step},
    {"v1/engine/core.py", "step_with_batch_queue", ServingPart::step},
    {"managers/scheduler.py", "run_batch", ServingPart::step},
    {"managers/scheduler.py", "_run_batch_inner", ServingPart::step},
    {"worker/gpu_worker.py", "execute_model", ServingPart::execute},
    {"worker/gpu_model_runner.py", "execute_model", ServingPart::execute},
    {"sched/scheduler.py", "schedule", ServingPart::schedule},
    {"managers/scheduler.py", "get_next_batch_to_run", ServingPart::schedule},
    {"worker/gpu_model_runner.py", "_prepare_inputs", ServingPart::prepare},
    {"model_executor/forward_batch_info.py", "init_new", ServingPart::prepare},
    {"worker/gpu_model_runner.py", "_model_forward", ServingPart::launch},
    {"model_executor/model_runner.py", "forward", ServingPart::launch},
    {"worker/gpu_model_runner.py", "sample_tokens", ServingPart::sample},
    {"model_executor/model_runner.py", "sample", ServingPart::sample},
    {"sched/scheduler.py", "update_from_output", ServingPart::output},
    {"managers/scheduler.py", "process_batch_result", ServingPart::output},
    {"worker/gpu_worker.py", "execute_dummy_batch", ServingPart::dummy},
};
struct SignName {
    std::string_view file, function;  // as in FrameName
    PhaseSign sign;
};
// A full CUDA graph holds a decode step, or one that verifies drafts.
constexpr SignName kSigns[] = {
    {"model_executor/cuda_graph_runner.py", "replay", PhaseSign::decode},
    {"model_executor/model_runner.py", "forward_decode", PhaseSign::decode},
    {"managers/schedule_batch.py", "prepare_for_decode", PhaseSign::decode},
    {"model_executor/model_runner.py", "forward_extend", PhaseSign::prefill},
    {"model_executor/model_runner.py", "forward_split_prefill", PhaseSign::prefill},
    {"managers/schedule_batch.py", "prepare_for_extend", PhaseSign::prefill},
    {"managers/schedule_batch.py", "mix_with_running", PhaseSign::mixed},
    {"model_executor/model_runner.py", "forward_idle", PhaseSign::dummy},
    {"managers/schedule_batch.py", "prepare_for_idle", PhaseSign::dummy},
    {"speculative/eagle_worker.py", "verify", PhaseSign::verify},
    {"speculative/eagle_worker_v2.py", "verify", PhaseSign::verify},
    {"speculative/multi_layer_eagle_worker.py", "verify", PhaseSign::verify},
    {"speculative/ngram_worker.py", "verify", PhaseSign::verify},
};

struct ScopeName {
    std::string_view text;
    ServingPart part;
};
constexpr ScopeName kScopes[] = {
    {"scheduler.run_batch", ServingPart::step},
    {"scheduler.get_next_batch_to_run", ServingPart::schedule},
    {"scheduler.process_batch_result", ServingPart::output},
    {"schedule: allocate_slots", ServingPart::schedule},
    {"gpu_model_runner: preprocess", ServingPart::prepare},
    {"gpu_model_runner: forward", ServingPart::launch},
    {"gpu_model_runner: sample", ServingPart::sample},
    {"gpu_model_runner: bookkeep", ServingPart::output},
};

// Kernels that manage a paged KV cache or batches of requests.
constexpr std::string_view kKernels[] = {"vllm::",
                                         "reshape_and_cache",
                                         "paged_attention",
                                         "PagedKVCache",
                                         "paged_kv",
                                         "kernel_unified_attention",
                                         "sgl_kernel",
                                         "store_kvcache",
                                         "create_flashinfer_kv_indices",
                                         "write_req_to_token_pool",
                                         "_mla_decode",
                                         "tensorrt_llm::"};
constexpr std::string_view kProcesses[] = {"VLLM::", "sglang::", "v1/engine/core.py(", "sglang/srt/"};

}  // namespace

std::string_view name_of(ServingPhase phase) {
    constexpr std::string_view kNames[] = {"prefill", "decode", "mixed", "verify",
                                           "draft",   "dummy",  "empty", "unknown"};
    return kNames[static_cast<std::size_t>(phase)];
}

std::optional<ServingBatch> parse_serving_step(std::string_view text) {
    if (text.size() < 8 || !contains_any(text.substr(0, 8), {"execute_", "step[", "[Executo", "decode[", "prefill["}))
        return std::nullopt;
    bool cut = false;
    for (std::string_view pattern : kTexts) {
        ServingBatch batch;
        Fit fits = fit(pattern, text, batch);
        cut = cut || fits == Fit::cut;
        if (fits != Fit::whole) continue;
        complete(batch, false);
        return batch;
    }
    if (cut) return ServingBatch{};
    for (const BracketText& known : kBracketTexts) {
        if (!text.starts_with(known.begin)) continue;
        std::size_t open = known.begin.find('['), space = known.begin.find(' ');
        std::string_view pairs = text.substr(space == known.begin.npos ? open + 1 : space + 1);
        ServingBatch batch;
        bool speculative = false;
        if (!read_pairs(pairs, batch, speculative)) batch = {};
        batch.phase = known.phase;
        if (batch.phase == ServingPhase::decode && (speculative || (batch.tokens && batch.tokens > batch.requests)))
            batch.phase = ServingPhase::verify;
        complete(batch, true);
        return batch;
    }
    return std::nullopt;
}

std::optional<ServingPart> serving_part_of_scope(std::string_view text) {
    for (const ScopeName& scope : kScopes)
        if (scope.text == text) return scope.part;
    return std::nullopt;
}

namespace {

// The line of a table that names a Python function; null if none does.
template <class Name, std::size_t N>
const Name* named_function(const Name (&table)[N], std::string_view frame) {
    std::size_t open = frame.find(".py(");
    if (open == frame.npos) return nullptr;
    std::string_view file = frame.substr(0, open + 3), function = frame.substr(frame.rfind(' ') + 1);
    auto same = [&](const Name& each) { return each.function == function && file.ends_with(each.file); };
    const Name* found = std::find_if(std::begin(table), std::end(table), same);
    return found == std::end(table) ? nullptr : found;
}

}  // namespace

std::optional<ServingPart> serving_part_of_frame(std::string_view frame) {
    const FrameName* found = named_function(kFrames, frame);
    return found == nullptr ? std::nullopt : std::optional(found->part);
}

std::optional<PhaseSign> phase_sign_of_frame(std::string_view frame) {
    const SignName* found = named_function(kSigns, frame);
    return found == nullptr ? std::nullopt : std::optional(found->sign);
}

// VLLM::Worker_DP1_PP0_TP3_EP0, sglang::scheduler_DP0_TP1, [TP00-DP01] 251, dp0_pp0_tp3_dcp0_ep3_rank3.NS.pt.trace.json,
// 1775078550-TP-3-DP-1.trace.json. Names of other programs say how many ranks there are in the same way: tp4_rank0.json.
ParallelPlace parallel_place(std::string_view text) {
    ParallelPlace place;
    bool title = text.starts_with("VLLM::") || text.starts_with("sglang::") || text.starts_with("[TP") ||
                 text.starts_with("[DP");
    bool vllm = contains(text, "dp") && contains(text, "_pp") && contains(text, "_tp") && contains(text, "_rank");
    if (!title && !vllm && !contains(text, "-TP-")) return place;
    struct Key {
        std::string_view upper, lower;
        std::optional<std::int32_t> ParallelPlace::*field;
    };
    constexpr Key kPlaces[] = {{"DP", "dp", &ParallelPlace::replica},
                               {"PP", "pp", &ParallelPlace::stage},
                               {"TP", "tp", &ParallelPlace::shard},
                               {"EP", "ep", &ParallelPlace::expert}};
    for (std::size_t i = 0; i + 2 < text.size(); ++i) {
        if (i > 0 && is_letter(text[i - 1])) continue;
        for (const Key& key : kPlaces) {
            if (!text.substr(i).starts_with(key.upper) && !text.substr(i).starts_with(key.lower)) continue;
            std::string_view digits = text.substr(i + 2);
            if (digits.front() == '-') digits.remove_prefix(1);
            if (digits.empty() || !is_digit(digits.front())) continue;
            if (Number number = take_number(digits); number && *number <= INT32_MAX && !(place.*key.field))
                place.*key.field = static_cast<std::int32_t>(*number);
        }
    }
    return place;
}

bool is_serving_kernel(std::string_view name) {
    return std::any_of(std::begin(kKernels), std::end(kKernels), [&](auto part) { return contains(name, part); });
}

bool is_serving_process(std::string_view name) {
    return std::any_of(std::begin(kProcesses), std::end(kProcesses), [&](auto part) { return contains(name, part); });
}

}  // namespace gpuprof::knowledge
