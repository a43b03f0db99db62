// Finds the libraries and their functions.
#include "collect/pm/api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <span>

#include "collect/dl/library.h"
#include "collect/pm/cupti_candidates.h"
#include "core/base/environment.h"

namespace gpuprof::pm {
namespace {

// CUPTI loads libnvperf_host.so by name when profiling starts, and the loader may not search the toolkit's folder.
void load_beside(const std::string& cupti) {
    std::string beside = cupti.substr(0, cupti.rfind('/')) + "/libnvperf_host.so";
    dlopen(beside.c_str(), RTLD_LAZY | RTLD_GLOBAL);
}

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

Result<Api> find_cupti(const std::string& program) {
    std::string named = trusted_environment("GPUPROF_CUPTI"), old, why;
    for (const std::string& place : cupti_candidates(program, trusted_environment)) {
        Result<Library> library = Library::open(std::span(&place, 1));
        if (!library.ok()) {
            why = library.error().message;
            continue;
        }
        Api api;
        const char* missing = bind(*library, api);
        if (missing == nullptr) return api;
        if (old.empty())
            old = fmt::format("{} lacks {}: counters over time need CUPTI 12.6 or later", library->path(), missing);
    }
    if (!old.empty()) return Error{ExitCode::empty, old + "; set GPUPROF_CUPTI to the path of one"};
    return Error{
        ExitCode::empty,
        fmt::format("libcupti not found{}; pip install nvidia-cuda-cupti, or set GPUPROF_CUPTI to the path of the "
                    "library",
                    named.empty() ? "" : fmt::format(" ({})", why))};
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
    Result<Api> api = find_cupti(program);
    if (!api.ok()) return api.error();
    {
        RunningCallScope mark("cuInit");
        if (int code = cuda->init(0); code != 0) return explain_cuda("cuInit", code);
    }
    load_beside(api->path);
    ProfilerInitialize parameters;
    if (Status started = api->initialize(parameters); !started) return started.error();
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
