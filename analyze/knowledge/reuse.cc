#include "analyze/knowledge/reuse.h"

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "core/base/text/ascii.h"

namespace gpuprof::inline knowledge {
namespace {

constexpr std::size_t kSearchedLength = 16 * 1024;  // searched prefix, a limit for hostile names
constexpr int kMaxTile = 512;

// A tile with a side of n uses the data loaded along the other side n times. To be compute-bound, devices need about 20
// FLOP per byte in FP32, and 150 to 300 on tensor cores in BF16; libraries choose small tiles for small matrices.
constexpr int kSmallTile = 16, kSmallTensorCoreTile = 32, kSmallMatrix = 48;

// The number that begins at `at`, and the position after it; 0 if missing or not a valid tile side.
int number_at(std::string_view name, std::size_t& at) noexcept {
    int value = 0;
    for (; at < name.size() && is_digit(name[at]); ++at) value = std::min(value * 10 + (name[at] - '0'), kMaxTile + 1);
    return value <= kMaxTile && value % 8 == 0 ? value : 0;
}

// The smaller side of the tile: the first MxN or MxNxK in the name (nvjet_sm90_tst_64x8_64x16_1x4, tilesize128x64x32).
std::optional<int> tile_side(std::string_view name) noexcept {
    for (std::size_t at = 0; at < name.size();) {
        if (!is_digit(name[at]) || (at > 0 && is_digit(name[at - 1]))) {
            ++at;
            continue;
        }
        int rows = number_at(name, at);
        if (rows == 0 || at >= name.size() || name[at] != 'x') continue;
        ++at;
        if (int columns = number_at(name, at); columns != 0) return std::min(rows, columns);
    }
    return std::nullopt;
}

}  // namespace

Reuse reuse_of(const KernelTraits& traits, std::string_view name) noexcept {
    name = name.substr(0, kSearchedLength);
    if (traits.kind == KernelClass::convolution)
        return traits.conv == ConvAlgorithm::depthwise ? Reuse::low : Reuse::high;
    if (contains_any(name, {"fused_moe", "fusedMoe", "FusedMoe", "moe_gemm", "Marlin", "marlin", "gptq", "awq"}))
        return Reuse::unknown;
    if (traits.kind == KernelClass::attention)
        return contains_any(name, {"paged_attention", "BatchDecode", "batch_decode", "_decode", "Decode", "splitkv",
                                   "split_kv", "splitKV"})
                   ? Reuse::low
                   : Reuse::high;
    if (contains_any(name, {"splitKreduce"})) return Reuse::low;  // sums partial results of other kernels
    if (std::optional<int> side = tile_side(name); side && *side <= kSmallMatrix) {
        bool tensor = traits.math.unit == MathUnit::tensor || traits.math.unit == MathUnit::unknown;
        return *side <= kSmallTile || (tensor && *side <= kSmallTensorCoreTile) ? Reuse::low : Reuse::unknown;
    }
    return contains_any(name, {"splitK", "split_k", "splitk", "SplitK", "stream_k", "streamK", "StreamK"})
               ? Reuse::unknown
               : Reuse::high;
}

}  // namespace gpuprof::knowledge
