#include "collect/counters/counter_api.h"

#include <dlfcn.h>

#include "collect/dl/library.h"
#include "collect/pm/cupti_candidates.h"

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
#define GPUPROF_COUNTERS_OPTION(member, function, Parameters) \
    api.member = {reinterpret_cast<int (*)(Parameters*)>(library.symbol(#function)), #function};
    GPUPROF_COUNTERS_OPTIONAL(GPUPROF_COUNTERS_OPTION)
#undef GPUPROF_COUNTERS_OPTION
    auto version = reinterpret_cast<int (*)(std::uint32_t*)>(library.symbol("cuptiGetVersion"));
    if (version == nullptr || version(&api.version) != pm::kSuccess) api.version = 0;
    return missing;
}

}  // namespace

Result<Api> load_host_api(const std::string& program) {
    Api api;
    Result<Library> library =
        pm::find_cupti(program, "kernel counters", [&api](const Library& each) { return bind(each, api); });
    if (!library.ok()) return library.error();
    load_beside(api.path);
    return api;
}

}  // namespace gpuprof::counters
