// What callbacks about functions of the runtime and the driver have in common.
#pragma once

#include <cstdint>
#include <cstring>

#include "collect/inject/cupti/cupti_api.h"

namespace gpuprof::inject {

// Whether CUPTI's name of a function is that of `function`, which has no "cuda" or "cu". A name may end in a version of the
// function, "_ptsz" for streams per thread, or both, in any order: cudaEventRecord_ptsz_v7000, cuStreamBeginCapture_v2_ptsz.
// Returns the end of the name; null if it is another function.
inline const char* end_of_function(const char* name, const char* function) noexcept {
    std::size_t api = std::strncmp(name, "cuda", 4) == 0 ? 4 : 2;
    std::size_t length = std::strlen(function);
    if (std::strncmp(name, "cu", 2) != 0 || std::strncmp(name + api, function, length) != 0) return nullptr;
    const char* rest = name + api + length;
    return *rest == '\0' || *rest == '_' ? rest : nullptr;
}

// The call of one kind that a thread is in. A runtime function calls the driver's, which is then not a call of its own.
// `opening` numbers the times that callbacks were switched on.
struct OuterCall {
    std::uint32_t domain = 0, opening = 0, correlation = 0;

    // At the entry of a call; false if it is within another one.
    bool enter(const CallbackData& call, std::uint32_t in_domain, std::uint32_t at_opening) noexcept {
        if (in_domain == kDriverDomain && domain == kRuntimeDomain && opening == at_opening) return false;
        domain = in_domain;
        opening = at_opening;
        correlation = call.correlation;
        return true;
    }
    // At the exit of a call; false if it is not the one that was entered.
    bool leave(const CallbackData& call, std::uint32_t in_domain, std::uint32_t at_opening) noexcept {
        if (domain != in_domain || opening != at_opening || correlation != call.correlation) return false;
        domain = 0;
        return true;
    }
};

}  // namespace gpuprof::inject
