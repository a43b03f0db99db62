// How many tokens per second decode steps would make with twice the requests. What a step does for its weights and its launches
// takes the same time, because memory bandwidth limits its dense products; what it does for each request may double. Nothing here
// says how long a request waits, nor whether the KV cache has room.
#include <algorithm>
#include <array>

#include "analyze/facts/kernels/kernel_bound.h"
#include "analyze/facts/kernels/op_rates.h"
#include "analyze/facts/steps/serving_phases.h"
#include "core/base/text/ascii.h"

namespace gpuprof::inline facts {
namespace {

// How the time of something depends on the number of requests.
enum class Growth : std::uint8_t { fixed, unsure, doubles };

class GrowthOfKernels {
public:
    // `tokens`: of the largest step.
    GrowthOfKernels(const Facts& facts, std::int32_t device, double tokens) : kernels_(facts.trace().kernel()) {
        std::optional<DevicePeaks> peaks = peaks_of(facts.trace(), device);
        multiprocessors_ = peaks ? peaks->num_sms : 0;
        std::optional<double> ridge =
            peaks ? peaks->ridge_flop_per_byte({MathUnit::tensor, MathType::bf16}) : std::nullopt;
        // A product does two operations per weight and token: one per byte of 16-bit weights, four of 4-bit ones.
        auto memory_bound = [&](double per_byte) { return ridge && 2 * per_byte * tokens < *ridge; };
        of_name_.resize(facts.trace().strings().size(), Growth::unsure);
        attention_.resize(of_name_.size());
        for (const KernelGroup& group : facts.get<KernelGroups>().groups) {
            if (group.name == kNoString) continue;
            std::string_view name = facts.trace().text(group.name);
            bool product = group.traits.kind == KernelClass::gemm || group.traits.kind == KernelClass::gemv;
            // Products of experts read the weights of more experts.
            bool experts = contains_any(name, {"moe", "MoE", "Moe", "expert", "rouped"});
            bool quantised = contains_any(name, {"arlin", "gptq", "awq", "e4m3", "e5m2", "int4", "int8", "fp4", "fp8"});
            if (product && !experts && memory_bound(quantised ? 4 : 1)) of_name_[index_of(group.name)] = Growth::fixed;
            attention_[index_of(group.name)] = group.traits.kind == KernelClass::attention;
        }
    }
    Growth of(Row kernel) const {
        StringId name = kernels_.name.value_or(kernel, kNoString);
        if (name == kNoString) return Growth::unsure;
        if (!attention_[index_of(name)]) return of_name_[index_of(name)];
        // Of a device that is full, each request takes its own time.
        std::int64_t blocks = kernels_.grid_x.value_or(kernel, 0) *
                              std::max<std::int64_t>(1, kernels_.grid_y.value_or(kernel, 1)) *
                              std::max<std::int64_t>(1, kernels_.grid_z.value_or(kernel, 1));
        return multiprocessors_ > 0 && blocks >= 2 * multiprocessors_ ? Growth::doubles : Growth::unsure;
    }

private:
    const KernelTable& kernels_;
    std::int64_t multiprocessors_ = 0;
    std::vector<Growth> of_name_;
    std::vector<bool> attention_;
};

}  // namespace

void add_larger_batches(const Facts& facts, const Iterations& found, std::vector<PhaseTotals>& totals) {
    const Trace& trace = facts.trace();
    bool sampled = facts.get<EngineStretches>().sampled_steps > 0;
    for (PhaseTotals& to : totals) {
        if (to.phase != ServingPhase::decode || !to.output_tokens || *to.output_tokens <= 0 || !to.intensity ||
            to.wall <= 0)
            continue;
        GrowthOfKernels growth(facts, found.engines[to.engine].device, *to.intensity);
        std::array<double, 3> kernels{};
        for (Row row = 0; row < found.of_kernel.size(); ++row) {
            std::uint32_t at = found.of_kernel[row];
            if (at == kNoIteration) continue;
            const Iteration& it = found.all[at];
            bool counts =
                it.engine == to.engine && it.phase() == to.phase && (!to.steady || it.state == IterationState::steady);
            if (counts)
                kernels[static_cast<std::size_t>(growth.of(row))] += static_cast<double>(trace.kernel().dur[row]);
        }
        double sum = kernels[0] + kernels[1] + kernels[2];
        auto part = [&](PhasePart which) { return static_cast<double>(to.part(which)); };
        double between = part(PhasePart::host_between), inside = part(PhasePart::host_inside),
               gaps = part(PhasePart::graph_gaps), copies = part(PhasePart::copies);
        auto wall = static_cast<double>(to.wall);
        double computing = wall - between - inside - gaps - copies;
        if (sum <= 0 || computing <= 0) continue;
        double fixed = computing * kernels[0] / sum, doubles = computing * kernels[2] / sum;
        double least = wall + doubles;
        double most = 2 * wall - fixed - gaps - (sampled ? 0 : inside);
        auto tokens = 2e9 * static_cast<double>(*to.output_tokens);
        to.tokens_per_s_of_twice = {tokens / most, tokens / least};
    }
}

}  // namespace gpuprof::facts
