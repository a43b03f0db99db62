// A libcuda.so.1 as far as a profiler sees it: cuInit loads the library named by CUDA_INJECTION64_PATH and calls its
// InitializeInjection(), once, as the driver does. Work on the device is what a script says: fake_cuda_play().
// At exit() it goes away, by a handler that it registers in cuInit before that call, or with the rule late_teardown after it.
// What timing needs (events, streams, memory, graphs) is in sim_api.cc, on a simulated clock.
// `fail cuInit CODE` and `hang cuInit` of tests/fakes/cupti/faults.h work here.
#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "tests/fakes/cuda/sim.h"
#include "tests/fakes/cupti/faults.h"

namespace {

enum Result : int { kSuccess = 0, kInvalidValue = 1, kNotInitialized = 3, kInvalidDevice = 101 };
constexpr std::uint32_t kDriverDomain = 1, kDriverGetVersion = 2, kProfilerStart = 308, kProfilerStop = 309;

std::atomic<bool> initialized{false};

void inject() {
    const char* path = std::getenv("CUDA_INJECTION64_PATH");
    if (path == nullptr || *path == 0) return;
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;  // the driver says nothing either
    auto start = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
    if (start != nullptr) start();
}

int is_cupti(dl_phdr_info* library, std::size_t, void* path) {
    const char* name = library->dlpi_name;
    if (name == nullptr || std::strstr(name, "libcupti.so") == nullptr ||
        std::strstr(name, "cupti_stand_in") != nullptr)
        return 0;
    *static_cast<std::string*>(path) = name;
    return 1;
}

// A function of the fake libcupti in this process; null if it is not loaded.
template <class Function>
Function find_cupti(const char* name) {
    std::string path;
    dl_iterate_phdr(is_cupti, &path);
    void* library = nullptr;
    if (!path.empty()) library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    const char* named = std::getenv("GPUPROF_FAKE_CUPTI");
    if (library == nullptr && named && *named) library = dlopen(named, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    void* found = dlsym(library, name);
    if (found == nullptr && dlsym(library, "fake_cupti_call") == nullptr) {
        std::fprintf(stderr, "fake libcuda: %s is not the fake libcupti\n", path.empty() ? named : path.c_str());
        std::abort();
    }
    return reinterpret_cast<Function>(found);
}

// The driver's own end. What still runs after it gets no answer from CUPTI.
void tear_down() {
    if (auto ends = find_cupti<void (*)()>("fake_cupti_driver_ends")) ends();
}

}  // namespace

void fake_cuda_tell(const char* function) {
    if (!initialized) return;  // libcupti is found once
    static auto* tell = find_cupti<void (*)(const char*)>("fake_cupti_driver_call");
    if (tell != nullptr) tell(function);
}

extern "C" {

int cuInit(unsigned) {
    if (int code = fake_cupti::gate("cuInit")) return code;
    if (int code = fake_cuda_enter("cuInit")) return code;
    static std::once_flag once;
    std::call_once(once, [] {
        bool late = fake_cupti::faults().late_teardown;
        if (!late) std::atexit(tear_down);
        inject();
        if (late) std::atexit(tear_down);
        if (auto started = find_cupti<void (*)()>("fake_cupti_started")) started();
        initialized = true;
    });
    return kSuccess;
}

int cuDriverGetVersion(int* version) {
    if (version == nullptr) return kInvalidValue;
    *version = static_cast<int>(fake_cupti::faults().driver);
    if (!initialized) return kSuccess;  // libcupti is found once
    static auto* call = find_cupti<void (*)(std::uint32_t, std::uint32_t)>("fake_cupti_call");
    if (call != nullptr) call(kDriverDomain, kDriverGetVersion);
    return kSuccess;
}

int cuDeviceGetCount(int* count) {
    if (int code = fake_cuda_enter("cuDeviceGetCount")) return code;
    if (!initialized) return kNotInitialized;
    if (count == nullptr) return kInvalidValue;
    *count = static_cast<int>(fake_cupti::faults().devices);
    return kSuccess;
}

int cuDeviceGet(int* device, int ordinal) {
    if (int code = fake_cuda_enter("cuDeviceGet")) return code;
    if (!initialized) return kNotInitialized;
    if (device == nullptr) return kInvalidValue;
    if (ordinal < 0 || ordinal >= static_cast<int>(fake_cupti::faults().devices)) return kInvalidDevice;
    *device = ordinal;
    return kSuccess;
}

int cuDeviceGetName(char* name, int bytes, int device) {
    if (int code = fake_cuda_enter("cuDeviceGetName")) return code;
    if (!initialized) return kNotInitialized;
    if (name == nullptr || bytes <= 0) return kInvalidValue;
    if (device < 0 || device >= static_cast<int>(fake_cupti::faults().devices)) return kInvalidDevice;
    std::snprintf(name, static_cast<std::size_t>(bytes), "%s", fake_cuda_name().c_str());
    return kSuccess;
}

int cuProfilerStart() {
    if (auto call = find_cupti<void (*)(std::uint32_t, std::uint32_t)>("fake_cupti_call"))
        call(kDriverDomain, kProfilerStart);
    return kSuccess;
}

int cuProfilerStop() {
    if (auto call = find_cupti<void (*)(std::uint32_t, std::uint32_t)>("fake_cupti_call"))
        call(kDriverDomain, kProfilerStop);
    return kSuccess;
}

// Plays a script of tests/fakes/cupti/script.py; options: tests/fakes/cupti/cupti_play.h. A null script is the one that
// GPUPROF_FAKE_CUDA_SCRIPT names. 0 too when no profiler listens; -1: no script; 1: bad options.
int fake_cuda_play(const char* script, const char* options) {
    if (!initialized) return kNotInitialized;
    auto play = find_cupti<int (*)(const char*, const char*)>("fake_cupti_play");
    return play ? play(script, options) : 0;
}

// Rules of buffers that the client broke.
std::size_t fake_cuda_breaches() {
    auto breaches = find_cupti<std::size_t (*)()>("fake_cupti_breaches");
    return breaches ? breaches() : 0;
}
}
