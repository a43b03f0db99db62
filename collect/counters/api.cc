#include "collect/counters/api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <span>

#include "collect/dl/library.h"
#include "collect/pm/cupti_candidates.h"
#include "core/base/environment.h"

namespace gpuprof::counters {
namespace {

// CUPTI looks for these by bare name, which works only if the loader searches their folder; otherwise every call
// answers 15. What is loaded already is found.
void load_beside(const std::string& cupti) {
    std::string folder = cupti.substr(0, cupti.rfind('/'));
    for (const char* name : {"/libnvperf_host.so", "/libnvperf_target.so"})
        dlopen((folder + name).c_str(), RTLD_LAZY | RTLD_GLOBAL);
}

// The first missing function; null if complete.
const char* bind(const Library& library, Api& api) {
    const char* missing = nullptr;
    api.path = library.path();
#define GPUPROF_COUNTERS_BIND(member, function, Parameters)                                      \
    api.member = {reinterpret_cast<int (*)(Parameters*)>(library.symbol(#function)), #function}; \
    if (api.member.pointer == nullptr && missing == nullptr) missing = #function;
    GPUPROF_COUNTERS_HOST(GPUPROF_COUNTERS_BIND)
    GPUPROF_COUNTERS_DEVICE(GPUPROF_COUNTERS_BIND)
#undef GPUPROF_COUNTERS_BIND
    auto version = reinterpret_cast<int (*)(std::uint32_t*)>(library.symbol("cuptiGetVersion"));
    if (version == nullptr || version(&api.version) != pm::kSuccess) api.version = 0;
    return missing;
}

}  // namespace

Result<Api> load_host_api(const std::string& program) {
    std::string old, why = "no candidate";
    for (const std::string& place : pm::cupti_candidates(program, trusted_environment)) {
        Result<Library> library = Library::open(std::span(&place, 1));
        if (!library.ok()) {
            why = library.error().message;
            continue;
        }
        Api api;
        const char* missing = bind(*library, api);
        if (missing == nullptr) {
            load_beside(api.path);
            return api;
        }
        if (old.empty())
            old = fmt::format("{} lacks {}: kernel counters need CUPTI 12.6 or later", library->path(), missing);
    }
    if (!old.empty()) return Error{ExitCode::empty, old + "; set GPUPROF_CUPTI to the path of one"};
    bool named = !trusted_environment("GPUPROF_CUPTI").empty();
    return Error{ExitCode::empty,
                 fmt::format("libcupti not found{}; pip install nvidia-cuda-cupti, or set GPUPROF_CUPTI to the path of "
                             "the library",
                             named ? fmt::format(" ({})", why) : "")};
}

}  // namespace gpuprof::counters
