#include "collect/inject/counters/counter_launch.h"

#include <cstring>

#include "collect/inject/host/api_call.h"

namespace gpuprof::inject {
namespace {

struct Named {
    const char* name;  // without "cu"
    LaunchKind kind;
};
constexpr Named kLaunchFunctions[] = {
    {"LaunchKernel", LaunchKind::kernel},
    {"LaunchCooperativeKernel", LaunchKind::kernel},
    {"LaunchKernelEx", LaunchKind::kernel_ex},
    {"LaunchCooperativeKernelMultiDevice", LaunchKind::multi_device},
    {"GraphLaunch", LaunchKind::graph},
    {"StreamBeginCapture", LaunchKind::begin_capture},
    {"StreamBeginCaptureToGraph", LaunchKind::begin_capture},
    {"StreamBeginRecaptureToGraph", LaunchKind::begin_capture},  // CUDA 13.3
    {"StreamEndCapture", LaunchKind::end_capture},
    {"StreamBeginCaptureToCig", LaunchKind::begin_capture},
    {"StreamEndCaptureToCig", LaunchKind::end_capture},
};

// The beginning of the arguments of cuLaunchKernel; those of cuLaunchCooperativeKernel begin alike.
struct KernelArguments {
    void* function;
    std::uint32_t grid[3], block[3], dynamic_shared_bytes;
    void* stream;
};

struct Attribute {  // CUlaunchAttribute
    static constexpr std::uint32_t kCluster = 4;
    std::uint32_t id, padding;
    std::uint32_t value[16];
};
static_assert(sizeof(Attribute) == 72);

struct LaunchConfig {  // CUlaunchConfig
    std::uint32_t grid[3], block[3], dynamic_shared_bytes;
    void* stream;
    const Attribute* attributes;
    std::uint32_t attribute_count;
};

constexpr std::uint32_t kMaxAttributes = 64;  // more is not a configuration

std::uint32_t cluster_of(const LaunchConfig& config) noexcept {
    if (config.attributes == nullptr || config.attribute_count > kMaxAttributes) return 0;
    for (std::uint32_t i = 0; i < config.attribute_count; ++i)
        if (const Attribute& each = config.attributes[i]; each.id == Attribute::kCluster)
            return each.value[0] * each.value[1] * each.value[2];
    return 0;
}

template <class Arguments>
void copy(const Arguments& from, LaunchArguments& to) noexcept {
    std::memcpy(to.grid, from.grid, sizeof to.grid);
    std::memcpy(to.block, from.block, sizeof to.block);
    to.dynamic_shared_bytes = from.dynamic_shared_bytes;
    to.stream = from.stream;
}

}  // namespace

LaunchKind launch_kind(const char* function) noexcept {
    for (const Named& each : kLaunchFunctions)
        if (end_of_function(function, each.name) != nullptr) return each.kind;
    return LaunchKind::none;
}

bool read_launch(LaunchKind kind, const CallbackData& call, LaunchArguments& arguments) noexcept {
    if (call.arguments == nullptr) return false;
    if (kind == LaunchKind::kernel) {
        copy(*static_cast<const KernelArguments*>(call.arguments), arguments);
        return true;
    }
    const LaunchConfig* config = *static_cast<const LaunchConfig* const*>(call.arguments);
    if (kind != LaunchKind::kernel_ex || config == nullptr) return false;
    copy(*config, arguments);
    arguments.cluster = cluster_of(*config);
    return true;
}

}  // namespace gpuprof::inject
