// libcupti, found at run time. Order: the newest copy that is already mapped (a second copy in one process sees
// nothing), the named one, the toolkit's, the system's, and those in Python packages next to a mapped library.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/format/pc_sampling.h"
#include "core/format/range_profiler.h"
#include "core/format/sass_metrics.h"

namespace gpuprof::inject {

using RequestBuffer = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records);
using CompleteBuffer = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                                std::size_t valid);
using ApiCallback = void (*)(void* data, std::uint32_t domain, std::uint32_t cbid, const void* about);

// The beginning of CUpti_CallbackData, which a callback gets about a call of the driver or runtime API.
struct CallbackData {
    static constexpr std::uint32_t kEnter = 0, kExit = 1;

    std::uint32_t site;
    const char* function;
    const void* arguments;  // as a structure of the function's parameters
    const void* result;     // at the exit: of a 4-byte error code
    const char* symbol;
    const void* context;
    std::uint32_t context_id;
    std::uint64_t* shared;
    std::uint32_t correlation;
};
static_assert(sizeof(CallbackData) == 72);

// While one lives, the calling thread is within a callback of CUPTI, and may hold CUPTI's locks. It waits for no thread that
// calls CUPTI, and calls no function of the driver but those that synchronise.
class WithinCallback {
public:
    WithinCallback() noexcept : before_(inside) { inside = true; }
    ~WithinCallback() { inside = before_; }
    WithinCallback(const WithinCallback&) = delete;
    WithinCallback& operator=(const WithinCallback&) = delete;
    static bool here() noexcept { return inside; }

private:
    inline static thread_local bool inside __attribute__((tls_model("initial-exec"))) = false;
    bool before_;
};

// Libraries that were found and do not work with this driver.
struct RefusedLibraries {
    static constexpr std::size_t kMax = 4;
    char paths[kMax][512] = {};
    std::size_t count = 0;

    bool holds(const char* path) const noexcept;
    bool add(const char* path) noexcept;  // false: known, or no room
};

struct Cupti {
#define FUNCTION(required, result, name, arguments) result(*name) arguments = nullptr;
#include "collect/inject/cupti/cupti_symbols.def"
#undef FUNCTION
    char path[512] = {};      // of the library, for the recording
    bool was_mapped = false;  // by the program

    // Returns whether one that was not refused was found with all required functions. `named` may be null.
    bool load(const char* named, const RefusedLibraries& refused = {}) noexcept;
    bool loaded() const noexcept { return cuptiActivityEnable != nullptr; }
};

// CUptiResult.
inline constexpr int kCuptiSuccess = 0, kCuptiInvalidParameter = 1, kCuptiEndOfBuffer = 12, kCuptiNotCompatible = 14,
                     kCuptiNotInitialized = 15, kCuptiInvalidKind = 21, kCuptiNotSupported = 27, kCuptiUnknown = 999;
inline constexpr std::uint32_t kDriverDomain = 1, kRuntimeDomain = 2,
                               kResourceDomain = 3;  // CUpti_CallbackDomain

// The newest CUDA version that the driver supports, as 1000 * major + 10 * minor; 0 if unknown. `driver`: a handle of
// libcuda; null is allowed.
int supported_cuda(void* driver) noexcept;

}  // namespace gpuprof::inject
