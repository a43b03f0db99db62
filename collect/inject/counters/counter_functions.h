// The driver's functions that concern counters, by their callback ids, which differ between versions of CUPTI.
#pragma once

#include <cstdint>
#include <cstring>

#include "collect/inject/counters/counter_launch.h"
#include "collect/inject/cupti/cupti_api.h"

namespace gpuprof::inject {

class CounterFunctions {
public:
    static constexpr std::uint32_t kFunctions = 2048;
    struct Watched {
        LaunchKind kind = LaunchKind::none;
        bool per_thread = false;  // streams per thread
    };

    // `cbid` is below kFunctions.
    const Watched& operator[](std::uint32_t cbid) const noexcept { return watched_[cbid]; }

    // Before enable().
    void find(const Cupti& cupti) noexcept {
        constexpr std::uint32_t kMaxNameless = 256;
        for (std::uint32_t cbid = 1, nameless = 0; cbid < kFunctions && nameless < kMaxNameless; ++cbid) {
            const char* name = nullptr;
            ++nameless;
            if (cupti.cuptiGetCallbackName(kDriverDomain, cbid, &name) != kCuptiSuccess || name == nullptr) continue;
            nameless = 0;
            LaunchKind kind = launch_kind(name);
            if (kind != LaunchKind::none) watched_[cbid] = {kind, std::strstr(name, "_ptsz") != nullptr};
        }
    }
    void enable(const Cupti& cupti, void* subscriber) const noexcept {
        for (std::uint32_t cbid = 1; cbid < kFunctions; ++cbid)
            if (watched_[cbid].kind != LaunchKind::none) cupti.cuptiEnableCallback(1, subscriber, kDriverDomain, cbid);
    }

private:
    Watched watched_[kFunctions];
};

}  // namespace gpuprof::inject
