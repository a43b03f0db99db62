// Recognises collective-communication kernels (NCCL, RCCL, PyTorch symmetric memory, vLLM) by name and parses the name.
//
// NCCL kernel names describe the operation: ncclDevKernel_AllReduce_Sum_f32_RING_LL (since 2.19),
// ncclKernel_AllReduce_RING_LL_Sum_float (2.7 to 2.18), ncclAllReduceRingLLKernel_sum_f32 (before). Since 2.19, rare
// combinations share ncclDevKernel_Generic, and RCCL uses only that; the kind is then unknown unless the record's
// arguments (Kineto's "Collective name") name it. Copying collectives are compiled for bytes whatever the tensor's
// type, so their "int8" is not reported as a data type. Source: NCCL src/device/generate.py and
// src/include/collectives.h, and the names in the recordings of tests/unit/knowledge.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuprof::inline knowledge {

enum class CollectiveKind : std::uint8_t {
    unknown,
    all_reduce,
    all_gather,
    reduce_scatter,
    all_to_all,
    broadcast,
    reduce,
    send_recv,
};

// The strings are literals; empty if not in the name.
struct CollectiveKernel {
    CollectiveKind kind = CollectiveKind::unknown;
    std::string_view dtype = {};      // fp64 fp32 fp16 bf16 fp8 int8 uint8 int32 uint32 int64 uint64
    std::string_view reduction = {};  // sum prod max min avg
    std::string_view algorithm = {};  // ring tree collnet nvls pat
    std::string_view protocol = {};   // ll ll128 simple

    friend bool operator==(const CollectiveKernel&, const CollectiveKernel&) = default;
};

// Absent if the kernel is not a collective.
[[nodiscard]] std::optional<CollectiveKernel> parse_collective(std::string_view kernel_name) noexcept;

// The kind from a collective's name, as in a record's argument ("_allgather_base", "alltoallv", "allreduce") or an API
// ("ncclAllReduce").
[[nodiscard]] CollectiveKind collective_kind(std::string_view text) noexcept;

// "all_reduce", ...; "unknown".
[[nodiscard]] std::string_view to_string(CollectiveKind kind) noexcept;

}  // namespace gpuprof::knowledge
