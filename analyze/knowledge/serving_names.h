// What servers of language models write into recordings: the texts that mark one step of their engines, the scopes and Python
// functions of a step, and names that only such servers use. All of it is data, in serving_names.cc.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuprof::inline knowledge {

// What one engine step computes. verify: drafted tokens are checked; dummy: device work without requests, to keep
// collectives in step; empty: no device work.
enum class ServingPhase : std::uint8_t { prefill, decode, mixed, verify, draft, dummy, empty, unknown };
inline constexpr std::size_t kServingPhases = 8;

// "prefill", "decode", ...
std::string_view name_of(ServingPhase phase);

// What a text says of the batch of a step; absent: not said.
struct ServingBatch {
    ServingPhase phase = ServingPhase::unknown;
    std::optional<std::int64_t> requests, prefill_requests, decode_requests;
    std::optional<std::int64_t> tokens, prefill_tokens, decode_tokens;
    std::optional<std::int64_t> prefill_kv, decode_kv;  // tokens in the KV cache that are attended to
};

// The batch that a range with this text marks; absent if it marks no engine step. A text that was cut marks a step of
// which nothing is known.
std::optional<ServingBatch> parse_serving_step(std::string_view text);

// Parts of a step on the host.
// `step` is all of it, `execute` what comes after scheduling.
enum class ServingPart : std::uint8_t { step, execute, schedule, prepare, launch, sample, output, dummy };
inline constexpr std::size_t kServingParts = 8;

// The part that a range of an engine's own scopes covers, or a Python function as `file(line): function`; absent: none.
std::optional<ServingPart> serving_part_of_scope(std::string_view text);
std::optional<ServingPart> serving_part_of_frame(std::string_view frame);

// What SGLang's Python functions of a step, or of the scheduling before it, tell of its phase, the surest last. May also be mixed
// where no function of the scheduling was recorded.
enum class PhaseSign : std::uint8_t { decode, prefill, mixed, dummy, verify };
std::optional<PhaseSign> phase_sign_of_frame(std::string_view frame);

// The place of a worker in a server of several, from the title of its process or the name of its file.
struct ParallelPlace {
    std::optional<std::int32_t> replica, stage, shard, expert;  // DP, PP, TP, EP
    bool known() const { return replica || stage || shard || expert; }
    auto operator<=>(const ParallelPlace&) const = default;
};
ParallelPlace parallel_place(std::string_view title_or_file);

// Whether only a server of language models has a kernel, thread or Python function of this name.
bool is_serving_kernel(std::string_view name);
bool is_serving_process(std::string_view name);

}  // namespace gpuprof::knowledge
