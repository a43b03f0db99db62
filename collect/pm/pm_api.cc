// Finds the libraries and their functions.
#include "collect/pm/pm_api.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "collect/dl/library.h"
#include "collect/pm/cupti_candidates.h"

namespace gpuprof::pm {
namespace {

// The first missing required function; null if complete.
const char* bind(const Library& library, Api& api) {
    const char* missing = nullptr;
    api.path = library.path();
#define GPUPROF_PM_BIND(member, function, Parameters)                                            \
    api.member = {reinterpret_cast<int (*)(Parameters*)>(library.symbol(#function)), #function}; \
    if (api.member.pointer == nullptr && missing == nullptr) missing = #function;
    GPUPROF_PM_REQUIRED(GPUPROF_PM_BIND)
    const char* required = missing;
    GPUPROF_PM_OPTIONAL(GPUPROF_PM_BIND)
#undef GPUPROF_PM_BIND
    api.timestamp = reinterpret_cast<int (*)(std::uint64_t*)>(library.symbol("cuptiGetTimestamp"));
    return required;
}

struct Cuda {
    int (*init)(unsigned) = nullptr;
    int (*count)(int*) = nullptr;
};

Result<Cuda> find_cuda() {
    const std::array<std::string, 2> names{"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};
    Result<Library> library = Library::open(names);
    if (!library.ok())
        return Error{ExitCode::empty,
                     "cannot load libcuda.so.1; install the NVIDIA driver, or start the container with --gpus all"};
    Cuda cuda{reinterpret_cast<int (*)(unsigned)>(library->symbol("cuInit")),
              reinterpret_cast<int (*)(int*)>(library->symbol("cuDeviceGetCount"))};
    if (cuda.init == nullptr || cuda.count == nullptr)
        return Error{ExitCode::empty, library->path() + " is not the driver's library"};
    return cuda;
}

}  // namespace

Result<Api> load_api(const std::string& program) {
    Result<Cuda> cuda = find_cuda();
    if (!cuda.ok()) return cuda.error();
    Api api;
    std::optional<int> driver;  // its answer to cuInit, which comes before CUPTI's first call
    int started = kSuccess;
    auto start = [&](const Library&) {
        if (!driver) {
            RunningCallScope mark("cuInit");
            driver = cuda->init(0);
        }
        if (*driver != 0) return kSuccess;
        load_library_of_cupti(api.path, "libnvperf_host.so");
        ProfilerInitialize parameters;
        return started = api.initialize.code(parameters);
    };
    Result<Library> library = find_cupti(
        program, "counters over time", [&api](const Library& each) { return bind(each, api); }, start);
    if (driver.value_or(0) != 0) return explain_cuda("cuInit", *driver);
    if (started != kSuccess) return explain(api.initialize.name, started);
    if (!library.ok()) return library.error();
    return api;
}

Result<int> count_devices() {
    Result<Cuda> cuda = find_cuda();
    if (!cuda.ok()) return cuda.error();
    RunningCallScope mark("cuDeviceGetCount");
    int count = 0;
    if (int code = cuda->count(&count); code != 0) return explain_cuda("cuDeviceGetCount", code);
    if (count == 0) return Error{ExitCode::empty, "the driver reports no GPU to this process"};
    return count;
}

}  // namespace gpuprof::pm
