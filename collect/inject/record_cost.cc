#include "collect/inject/record_cost.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "collect/inject/cupti/cupti_multiplexer.h"
#include "collect/inject/settings.h"
#include "core/base/clock.h"
#include "core/format/cupti_records.h"

namespace gpuprof::inject {
namespace {

using GetVersion = int (*)(int*);

constexpr std::int64_t kMaxTime = 5'000'000;  // ns
constexpr auto kPricedKind = static_cast<std::uint32_t>(cupti::Kind::driver);

struct Batches {
    std::int64_t ns[RecordCost::kBatches];  // per batch, sorted
    std::int64_t at(int quarter) const noexcept { return ns[(RecordCost::kBatches - 1) * quarter / 4]; }
};

// False: it took too long.
bool time_batches(GetVersion call, std::int64_t until, Batches& times) noexcept {
    int version = 0;
    call(&version);  // the first one finds caches cold
    for (std::int64_t& time : times.ns) {
        std::int64_t since = monotonic_ns();
        if (since > until) return false;
        for (int i = 0; i < RecordCost::kCalls; ++i) call(&version);
        time = monotonic_ns() - since;
    }
    std::sort(std::begin(times.ns), std::end(times.ns));
    return true;
}

}  // namespace

void RecordCost::add_function(std::uint32_t domain, std::uint32_t cbid, const char* name) noexcept {
    if (domain == kDriverDomain && std::strcmp(name, "cuDriverGetVersion") == 0) cbid_ = cbid;
}

void RecordCost::measure() noexcept {
    if (tried_) return;
    tried_ = true;
    refusal_ = try_to_measure();
    known_ = *refusal_ == '\0';
}

// The function stays recorded: programs hardly call it, and switching it off would be one more call of CUPTI.
const char* RecordCost::try_to_measure() noexcept {
    CuptiMultiplexer& cupti = cupti_multiplexer();
    if (settings().api == ApiCalls::all || cbid_ == 0 || cupti.wants(ClientId::ours, kPricedKind, cbid_) ||
        cupti.wants(ClientId::other, kPricedKind, cbid_) || (cupti.separate() && cupti_v2().anyone_wants(kPricedKind)))
        return "all calls are recorded, so none shows the time without a record";
    void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    auto call = driver != nullptr ? reinterpret_cast<GetVersion>(dlsym(driver, "cuDriverGetVersion")) : nullptr;
    if (call == nullptr) return "the CUDA driver was not found";
    std::int64_t until = monotonic_ns() + kMaxTime;
    Batches without{}, with{};
    bool in_time = time_batches(call, until, without);
    if (in_time && cupti.set_function(ClientId::ours, kDriverDomain, cbid_, true) != kCuptiSuccess)
        return "CUPTI does not record single functions";
    in_time = in_time && time_batches(call, until, with);
    dlclose(driver);
    if (!in_time) return "the machine was too busy";
    result_ = {(with.at(1) - without.at(3)) / kCalls, (with.at(2) - without.at(2)) / kCalls,
               (with.at(3) - without.at(1)) / kCalls};
    return result_.central > 0 ? "" : "the machine was too busy";
}

}  // namespace gpuprof::inject
