#include "collect/inject/callbacks.h"

#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "collect/inject/collector.h"
#include "collect/inject/counters/stall_collector.h"
#include "collect/inject/cupti/cupti_multiplexer.h"
#include "collect/inject/host/graph_events.h"
#include "collect/inject/host/launch_stacks.h"
#include "collect/inject/switch_lock.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::inject {
namespace {

constexpr std::uint32_t kInitFinished = 5;  // CUPTI_CBID_RESOURCE_CU_INIT_FINISHED
constexpr const char* kRecorded = meta_key::kStreamCallsRecorded;

// Libraries that look up CUPTI's functions in libcupti itself, so that their calls do not arrive here, and that need
// the subscription to profile: Proton of Triton stops the program without it, XLA's profiler leaves out the GPU.
struct Rival {
    const char* library;
    const char* state;
    const char* only_v1 = nullptr;  // its name, if it does not know the interface with several subscribers
};
constexpr Rival kRivals[] = {
    {"/libproton", "left CUPTI's only subscription to Proton (libproton.so)", "Proton"},
    {"/xla_cuda_plugin", "left CUPTI's only subscription to XLA's profiler (xla_cuda_plugin.so)"},
    {"/xla_extension", "left CUPTI's only subscription to XLA's profiler (xla_extension.so)"},
    {"/libtensorflow_cc", "left CUPTI's only subscription to TensorFlow's profiler (libtensorflow_cc.so)"},
};

struct Search {
    unsigned long long mapped = 0;  // when it was searched last
    const Rival* found = nullptr;
};
int look_for_rival(dl_phdr_info* library, std::size_t, void* about) noexcept {
    auto* search = static_cast<Search*>(about);
    if (library->dlpi_adds == search->mapped) return 1;  // nothing was mapped since
    for (const Rival& rival : kRivals)
        if (library->dlpi_name != nullptr && std::strstr(library->dlpi_name, rival.library) != nullptr)
            search->found = &rival;
    return 0;
}
int read_count(dl_phdr_info* library, std::size_t, void* count) noexcept {
    *static_cast<unsigned long long*>(count) = library->dlpi_adds;
    return 1;
}

// A library that needs the subscription and was mapped since `mapped`, which is updated.
const Rival* find_rival(unsigned long long& mapped) noexcept {
    if (settings().cupti == CuptiPolicy::own) return nullptr;
    unsigned long long now = 0;
    dl_iterate_phdr(read_count, &now);  // first: what is mapped during the search is searched next time
    Search search{mapped};
    dl_iterate_phdr(look_for_rival, &search);
    mapped = now;
    return search.found;
}

// Whether it loads CUPTI from the launcher's folder, so that its calls arrive here (collect/stand_in).
bool arrives_here() noexcept {
    const char* folder = std::getenv("TRITON_CUPTI_LIB_PATH");
    return folder != nullptr && std::strstr(folder, "/cupti_stand_in") != nullptr;
}

}  // namespace

// With a window, warps are sampled from the first launch in it to the first one after it.
bool Callbacks::always_watched(const Watched& watched) noexcept { return watched.launch && stalls_wanted(); }

void Callbacks::add_function(std::uint32_t domain, std::uint32_t cbid, const char* name) noexcept {
    StreamFunction function;
    if (domain == kDriverDomain && std::strcmp(name, "cuProfilerStart") == 0) profiler_start_ = cbid;
    if (domain == kDriverDomain && std::strcmp(name, "cuProfilerStop") == 0) profiler_stop_ = cbid;
    bool launch = (settings().launch_stacks || stalls_wanted()) && is_launch_function(name);
    if (cbid >= kFunctions || count_ >= kMaxWatched || (!launch && !find_stream_function(name, function))) return;
    watched_[count_] = {domain, cbid, function, launch};
    place_[domain == kRuntimeDomain][cbid] = ++count_;
}

int Callbacks::start(const Cupti& cupti) noexcept {
    cupti_ = &cupti;
    bool for_window = settings().range == CaptureRange::profiler_api;
    if (cupti.cuptiSubscribe == nullptr || cupti.cuptiUnsubscribe == nullptr || cupti.cuptiEnableCallback == nullptr ||
        count_ == 0) {
        state_.store("this version of CUPTI has no callbacks", std::memory_order_release);
        return kCuptiSuccess;
    }
    bool separate = cupti_multiplexer().separate();
    if (const Rival* rival = separate ? nullptr : find_rival(mapped_); rival != nullptr && !for_window) {
        state_.store(rival->state, std::memory_order_release);
        return kCuptiSuccess;
    }
    if (settings().launch_stacks) prepare_launch_stacks();
    SwitchLock turn(lock_);
    if (int code = cupti.cuptiSubscribe(&subscriber_, on_call, this); code != kCuptiSuccess) {
        subscriber_ = nullptr;
        state_.store(code == kMultipleSubscribers ? "another tool holds CUPTI's only subscription"
                                                  : "CUPTI refused a subscription",
                     std::memory_order_release);
        return code;
    }
    for (std::uint32_t cbid : {profiler_start_, profiler_stop_})
        if (for_window && cbid != 0) cupti.cuptiEnableCallback(1, subscriber_, kDriverDomain, cbid);
    for (std::uint32_t cbid :
         {pcs::Resource::kContextCreated, pcs::Resource::kContextDestroyed, pcs::Resource::kModuleLoaded})
        if (stalls_wanted()) cupti.cuptiEnableCallback(1, subscriber_, kResourceDomain, cbid);
    watch_graph_nodes(cupti, subscriber_);
    cupti.cuptiEnableCallback(1, subscriber_, kResourceDomain, kInitFinished);
    for (std::uint8_t i = 0; i < count_; ++i)
        if (always_watched(watched_[i]))
            cupti.cuptiEnableCallback(1, subscriber_, watched_[i].domain, watched_[i].cbid);
    state_.store(kRecorded, std::memory_order_release);
    return kCuptiSuccess;
}

void Callbacks::enable(bool on) noexcept {
    if (subscriber_ == nullptr || open_ == on) return;
    for (std::uint8_t i = 0; i < count_; ++i)
        if (!always_watched(watched_[i]))
            cupti_->cuptiEnableCallback(on, subscriber_, watched_[i].domain, watched_[i].cbid);
    open_ = on;
}

void Callbacks::open() noexcept {
    SwitchLock turn(lock_);
    opening_.fetch_add(1, std::memory_order_relaxed);
    enable(true);
}

void Callbacks::close() noexcept {
    SwitchLock turn(lock_);
    enable(false);
}

void Callbacks::make_way() noexcept {
    if (cupti_multiplexer().separate()) {
        const Rival* rival = find_rival(mapped_);
        if (rival != nullptr && rival->only_v1 != nullptr && !arrives_here()) kept_out_ = rival->only_v1;
        return;
    }
    if (state() != kRecorded) return;
    if (const Rival* rival = find_rival(mapped_)) end_subscription(rival->state);
}

bool Callbacks::give_up() noexcept {
    return end_subscription("not from when another client of CUPTI subscribed to callbacks");
}

bool Callbacks::end_subscription(const char* state) noexcept {
    if (settings().range == CaptureRange::profiler_api) return false;
    if (cupti_multiplexer().separate()) return true;
    SwitchLock turn(lock_);
    if (subscriber_ == nullptr) return true;
    cupti_->cuptiUnsubscribe(subscriber_);
    lose_stall_callbacks();
    subscriber_ = nullptr;
    state_.store(state, std::memory_order_release);
    return true;
}

// On a thread of the program, within its call. Each API function has its own ids; the driver's functions are also
// called by those of the runtime.
void Callbacks::on_call(void* self, std::uint32_t domain, std::uint32_t cbid, const void* about) noexcept {
    auto& callbacks = *static_cast<Callbacks*>(self);
    WithinCallback within;
    if (domain == kResourceDomain && cbid == kInitFinished) return watch_exit();
    if (domain == kResourceDomain && recording())
        return is_about_graphs(cbid) ? on_graph_resource(*callbacks.cupti_, cbid, about)
                                     : on_stall_resource(cbid, about);
    if ((domain != kDriverDomain && domain != kRuntimeDomain) || cbid >= kFunctions || !recording()) return;
    const auto& call = *static_cast<const CallbackData*>(about);
    bool exit = call.site == CallbackData::kExit;
    if (domain == kDriverDomain && settings().range == CaptureRange::profiler_api) {
        if (cbid == callbacks.profiler_start_ && exit) window().call_start();
        if (cbid == callbacks.profiler_stop_ && !exit) window().call_stop();
    }
    std::uint8_t place = callbacks.place_[domain == kRuntimeDomain][cbid];
    if (place == 0) return;
    std::uint32_t opening = callbacks.opening_.load(std::memory_order_relaxed);
    const Watched& watched = callbacks.watched_[place - 1];
    if (watched.launch && !exit) follow_stalls();
    if (watched.launch && !settings().launch_stacks) return;
    if (watched.launch)
        exit ? leave_launch(call, domain, opening) : enter_launch(call, domain, opening);
    else if (exit)
        leave_stream_call(*callbacks.cupti_, watched.function, call, domain, opening);
    else
        enter_stream_call(call, domain, opening);
}

}  // namespace gpuprof::inject
