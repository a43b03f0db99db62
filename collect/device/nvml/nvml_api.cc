// Finds the library and its functions.
#include "collect/device/nvml/nvml_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "collect/dl/library.h"
#include "core/base/environment.h"

namespace gpuprof::inline device::nvml {

namespace {

constexpr const char* kNames[] = {
// The one or two names of each function, in the order of symbols.def.
#define GPUPROF_NVML_NAMES(need, name, older) #name, older,
    GPUPROF_NVML_FUNCTIONS(GPUPROF_NVML_NAMES)
#undef GPUPROF_NVML_NAMES
};

enum Need { optional, required };

// Only the name ending in .so.1 is the driver's; a toolkit installs the plain .so for linking. WSL has its own folder.
Result<std::vector<std::string>> candidates() {
    std::string chosen = trusted_environment("GPUPROF_NVML");
    if (chosen.empty()) return std::vector<std::string>{"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"};
    if (chosen.front() != '/')
        return Error{ExitCode::usage, fmt::format("invalid GPUPROF_NVML '{}'; expected an absolute path", chosen)};
    return std::vector<std::string>{chosen};
}

}  // namespace

Result<Api> load_api(std::span<const std::string> avoid) {
    Result<std::vector<std::string>> names = candidates();
    if (!names) return names.error();
    Result<Library> library = Library::open(*names);
    if (!library)
        return Error{ExitCode::empty, fmt::format("cannot load NVML ({}); install the NVIDIA driver, or in a container "
                                                  "set NVIDIA_DRIVER_CAPABILITIES=compute,utility",
                                                  library.error().message)};
    Api api;
    api.path = library->path();
    std::vector<SymbolSlot> slots;
    const char* const* spelled = kNames;
#define GPUPROF_NVML_SLOT(need, function, older)                                            \
    slots.push_back({std::span(spelled, *spelled[1] ? 2 : 1), need == required,             \
                     reinterpret_cast<void**>(&api.function.pointer), &api.function.name}); \
    spelled += 2;
    GPUPROF_NVML_FUNCTIONS(GPUPROF_NVML_SLOT)
#undef GPUPROF_NVML_SLOT
    if (Status status = resolve(*library, slots); !status) return Error{ExitCode::empty, status.error().message};
#define GPUPROF_NVML_AVOID(need, function, older) \
    api.function.avoided = std::find(avoid.begin(), avoid.end(), api.function.name) != avoid.end();
    GPUPROF_NVML_FUNCTIONS(GPUPROF_NVML_AVOID)
#undef GPUPROF_NVML_AVOID
    return api;
}

}  // namespace gpuprof::device::nvml
