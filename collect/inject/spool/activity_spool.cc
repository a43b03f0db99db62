#include "collect/inject/spool/activity_spool.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "collect/inject/collector.h"
#include "collect/inject/counters/stall_collector.h"
#include "collect/inject/cupti/cupti_codes.h"
#include "collect/inject/cupti/cupti_multiplexer.h"
#include "collect/inject/cupti/other_client.h"
#include "collect/inject/spool/buffers.h"
#include "core/base/clock.h"
#include "core/base/fnv.h"
#include "core/format/spool.h"

namespace gpuprof::inject {
namespace {

using cupti::Kind;

// API functions that are recorded: they submit work, wait for it, or manage memory and code. A name matches by its
// beginning.
constexpr const char* kWantedFunctions[] = {
    "cudaLaunch",
    "cudaGraphLaunch",
    "cudaMemcpy",
    "cudaMemset",
    "cudaMalloc",
    "cudaFree",
    "cudaHostAlloc",
    "cudaHostRegister",
    "cudaHostUnregister",
    "cudaStreamSynchronize",
    "cudaDeviceSynchronize",
    "cudaEventRecord",
    "cudaEventSynchronize",
    "cudaStreamWaitEvent",
    "cudaGraphInstantiate",
    "cudaStreamBeginCapture",
    "cudaStreamBeginRecapture",
    "cudaStreamEndCapture",
    "cuLaunch",
    "cuGraphLaunch",
    "cuMemcpy",
    "cuMemset",
    "cuMemAlloc",
    "cuMemFree",
    "cuMemHostAlloc",
    "cuStreamSynchronize",
    "cuStreamBeginCapture",
    "cuStreamBeginRecapture",
    "cuStreamEndCapture",
    "cuCtxSynchronize",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuStreamWaitEvent",
    "cuModuleLoad",
    "cuModuleUnload",
    "cuLibraryLoad",
    "cuLinkComplete",
    "cuMemCreate",
    "cuMemMap",
};
bool wanted(const char* name) noexcept {
    for (const char* prefix : kWantedFunctions)
        if (std::strncmp(name, prefix, std::strlen(prefix)) == 0) return true;
    return false;
}

// Callback ids end well before this in every version. They are consecutive: after this many without a name there are no
// more.
constexpr std::uint32_t kMaxFunctions = CuptiMultiplexer::kFunctions, kMaxNameless = 256;
constexpr int kYieldWaits = 20;  // times 10 ms, for work in flight

// Whole kinds that are recorded while the window is open.
struct WantedKind {
    Kind kind;
    const char* what;
};
constexpr WantedKind kKinds[] = {{Kind::memcpy, "copies"},
                                 {Kind::memcpy_p2p, "copies between devices"},
                                 {Kind::memset, "memsets"},
                                 {Kind::overhead, "CUPTI's overhead"},
                                 {Kind::host_launch, "functions of the host"},
                                 {Kind::graph_host_node, "host nodes of graphs"},
                                 {Kind::jit, "JIT compilation"},
                                 {Kind::external_correlation, "external correlation ids"}};

constexpr std::uint32_t kDisableMayBlock = 130000;  // CUDA 13.0

// Continuous sampling of warps excludes concurrent tracing of kernels (Proton says so of CUPTI), so that they run one after
// the other then.
Kind kernel_kind() noexcept { return stalls_wanted() ? Kind::kernel : Kind::concurrent_kernel; }

bool newer_than_driver(int code) noexcept { return code == kCuptiNotInitialized || code == kCuptiUnknown; }

// Registers our buffers. A CUPTI that is newer than the driver may refuse only the first kind, so one with few records is
// switched on, unless the program uses this CUPTI itself, which leaves no choice. It stays on: switching it off may block.
int register_buffers(const Cupti& cupti) noexcept {
    constexpr std::uint32_t kSystemThreadIds = 1, kZeroedBuffers = 5;
    constexpr auto kTried = static_cast<std::uint32_t>(Kind::overhead);
    if (cupti.cuptiSetThreadIdType != nullptr) cupti.cuptiSetThreadIdType(kSystemThreadIds);
    // With several subscribers it might hold for the buffers of all.
    if (cupti.cuptiActivitySetAttribute != nullptr && !cupti_multiplexer().separate()) {
        std::uint8_t yes = 1;
        std::size_t bytes = sizeof yes;
        cupti.cuptiActivitySetAttribute(kZeroedBuffers, &bytes, &yes);
    }
    int code = buffers().hand_to(cupti);
    if (code != kCuptiSuccess || cupti.was_mapped || cupti_multiplexer().separate()) return code;
    code = cupti_multiplexer().set_kind(ClientId::ours, kTried, true);
    return newer_than_driver(code) ? code : kCuptiSuccess;
}

}  // namespace

// Keeps the first failure, with CUPTI's own description of the code.
void Activity::refuse(const char* what, int code) noexcept {
    int nothing = kNone;
    if (!refusal_state_.compare_exchange_strong(nothing, kWriting)) return;
    const char* words = nullptr;
    bool said = cupti_->cuptiGetResultString != nullptr && cupti_->cuptiGetResultString(code, &words) == kCuptiSuccess;
    // without a driver, CUPTI 13.3 and later have no description
    if (!said || words == nullptr) words = name_of_code(code);
    std::snprintf(refusal_, sizeof refusal_, "%.60s: CUPTI answers %d%s%.80s (%.300s)", what, code,
                  words != nullptr ? " " : "", words != nullptr ? words : "", cupti_->path);
    refusal_state_.store(kWritten, std::memory_order_release);
}

// Another tool has CUPTI to itself, as tools may ask of it.
void Activity::refuse_for_holder() noexcept {
    const char* holder = cupti_v2().holder();
    std::snprintf(refusal_, sizeof refusal_,
                  "GPU work: another profiler%s%.64s%s has CUPTI and allows no second one (%.300s)",
                  *holder != '\0' ? ", " : "", holder, *holder != '\0' ? "," : "", cupti_->path);
    refusal_state_.store(kWritten, std::memory_order_release);
}

bool Activity::start() noexcept {
    if (settings().library[0] != '\0') cupti_multiplexer().name_library(settings().library);
    cupti_ = cupti_multiplexer().cupti();
    if (cupti_ == nullptr) {
        std::snprintf(refusal_, sizeof refusal_,
                      "GPU work: libcupti not found; install it (nvidia-cuda-cupti) or set GPUPROF_CUPTI to its path");
        refusal_state_.store(kWritten, std::memory_order_release);
        return false;
    }
    if (cupti_multiplexer().refusal() != kCuptiSuccess) {
        refuse_for_holder();
        return false;
    }
    int code = register_buffers(*cupti_);
    for (const Cupti* next = cupti_; newer_than_driver(code) && next != nullptr;) {
        next = cupti_multiplexer().next_library();
        if (next != nullptr) code = register_buffers(*next);
    }
    if (cupti_->cuptiGetVersion(&version_) != kCuptiSuccess) version_ = 0;
    if (code != kCuptiSuccess) {
        refuse("GPU work", code);
        return false;
    }
    void* memory =
        mmap(nullptr, kNameSlots * sizeof(KnownName), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    known_ = memory == MAP_FAILED ? nullptr : static_cast<KnownName*>(memory);
    running_.store(true, std::memory_order_release);
    // Before the driver makes their records; they stay on.
    if (!settings().stalls_only) switch_on(Kind::device, "devices");
    find_functions();
    code = callbacks_.start(*cupti_);
    if (code != kCuptiSuccess && settings().range == CaptureRange::profiler_api)
        refuse("cudaProfilerStart and cudaProfilerStop, which begin and end the recording,", code);
    return true;
}

bool Activity::switch_on(Kind kind, const char* what) noexcept {
    int code = cupti_multiplexer().set_kind(ClientId::ours, static_cast<std::uint32_t>(kind), true);
    // CUPTI 11.8 has no records of JIT compilation, and 13.0 none of functions of the host. One refusal is kept, and that is not the one.
    if (code != kCuptiSuccess && kind < Kind::jit) refuse(what, code);
    return code == kCuptiSuccess;
}

void Activity::prepare() noexcept {
    if (!running() || settings().stalls_only || version_ == kDisableMayBlock) return;
    if (switch_on(kernel_kind(), "kernels"))
        cupti_multiplexer().set_kind(ClientId::ours, static_cast<std::uint32_t>(kernel_kind()), false);
}

void Activity::dump_devices() noexcept {
    if (running() && !settings().stalls_only)
        cupti_multiplexer().dump(ClientId::ours, static_cast<std::uint32_t>(Kind::device));
}

void Activity::open() noexcept {
    if (!running() || settings().stalls_only) return;
    switch_on(kernel_kind(), "kernels");
    for (const WantedKind& each : kKinds) switch_on(each.kind, each.what);
    if (settings().graph == GraphDetail::graph) switch_on(Kind::graph_trace, "graph launches");
    if (settings().memory) switch_on(Kind::memory2, "allocations");
    callbacks_.open();
    bool by_name = cupti_->cuptiGetCallbackName != nullptr && cupti_->cuptiActivityEnableRuntimeApi != nullptr;
    if (by_name && settings().api != ApiCalls::all) {
        for (std::size_t i = 0; i < wanted_count_; ++i)
            cupti_multiplexer().set_function(ClientId::ours, wanted_[i].domain, wanted_[i].cbid, true);
        return;
    }
    switch_on(Kind::runtime, "runtime calls");
    if (settings().api == ApiCalls::all) switch_on(Kind::driver, "driver calls");
}

void Activity::close() noexcept {
    if (!running()) return;
    callbacks_.close();
    cupti_multiplexer().withdraw(ClientId::ours, static_cast<std::uint32_t>(Kind::device));
}

void Activity::yield() noexcept {
    if (!running()) return;
    close();
    cupti_multiplexer().withdraw(ClientId::ours);
    callbacks_.give_up();
    flush(false);
    for (int i = 0; i < kYieldWaits && buffers().given() > 0; ++i) {
        constexpr timespec kPause{0, 10'000'000};
        nanosleep(&kPause, nullptr);
        flush(false);
    }
    flush(true);
    running_.store(false, std::memory_order_release);
}

void Activity::find_functions() noexcept {
    if (cupti_->cuptiGetCallbackName == nullptr) return;
    for (std::uint32_t domain : {kRuntimeDomain, kDriverDomain})
        for (std::uint32_t cbid = 1, nameless = 0; cbid < kMaxFunctions && nameless < kMaxNameless; ++cbid) {
            const char* name = nullptr;
            ++nameless;
            if (cupti_->cuptiGetCallbackName(domain, cbid, &name) != kCuptiSuccess || name == nullptr) continue;
            nameless = 0;
            callbacks_.add_function(domain, cbid, name);
            record_cost_.add_function(domain, cbid, name);
            if (wanted(name) && wanted_count_ < kMaxWanted) wanted_[wanted_count_++] = {domain, cbid};
            function_names_.add(domain == kRuntimeDomain ? spool::NameSpace::runtime_api
                                                         : spool::NameSpace::driver_api);
            function_names_.add(std::uint64_t{cbid});
            function_names_.add_text(name);
        }
}

bool Activity::write_function_names(SpoolFile& file) noexcept {
    return function_names_.size() == 0 || file.write(ChunkKind::spool_names, function_names_.view());
}

void Activity::forget_names() noexcept {
    for (std::size_t i = 0; known_ != nullptr && i < kNameSlots; ++i) known_[i] = {};
}

void Activity::flush(bool forced) noexcept {
    if (!running()) return;
    OtherClient::InFlightGuard flushing;
    cupti_->cuptiActivityFlushAll(forced ? 1 : 0);
}

void Activity::drain(SpoolFile& file, std::int64_t until) noexcept {
    while (monotonic_ns() < until &&
           buffers().take_earliest([&](std::uint8_t* bytes, std::size_t valid) { write_buffer(file, bytes, valid); })) {
    }
}

// The length of a record follows from the start of the next one, which only CUPTI knows for its version.
void Activity::write_buffer(SpoolFile& file, std::uint8_t* bytes, std::size_t valid) noexcept {
    constexpr std::size_t kMaxKinds = 64;
    std::uint32_t lengths[kMaxKinds] = {};
    auto measure = [&](const std::uint8_t* record, const std::uint8_t* next) {
        std::uint32_t kind = 0;
        std::memcpy(&kind, record, sizeof kind);
        if (kind < kMaxKinds) lengths[kind] = static_cast<std::uint32_t>(next - record);
    };
    names_.clear();
    std::uint8_t *record = nullptr, *before = nullptr;
    int code = kCuptiSuccess;
    while ((code = cupti_->cuptiActivityGetNextRecord(bytes, valid, &record)) == kCuptiSuccess && record != nullptr) {
        if (before != nullptr) measure(before, record);
        before = record;
        cupti::Record view({reinterpret_cast<const char*>(record), static_cast<std::size_t>(bytes + valid - record)});
        if (cupti::is_kernel(view.kind())) note_name(view.get(cupti::kernel::name));
        if (view.kind() == cupti::Kind::device) note_name(view.get(cupti::device::name));
    }
    if (before != nullptr && code == kCuptiEndOfBuffer) measure(before, bytes + valid);
    bool named = names_.size() == 0 || file.write(ChunkKind::spool_names, names_.view());
    if (!named) forget_names();
    head_.clear();
    std::uint32_t kinds = 0;
    for (std::uint32_t length : lengths) kinds += length > 0;
    head_.add(kinds);
    for (std::uint32_t kind = 0; kind < kMaxKinds; ++kind)
        if (lengths[kind] > 0) {
            head_.add(kind);
            head_.add(lengths[kind]);
        }
    delivered_ = true;
    file.write(ChunkKind::spool_activity, head_.view(), {reinterpret_cast<const char*>(bytes), valid});
}

void Activity::measure_record_cost() noexcept {
    if (running() && delivered_) record_cost_.measure();
}

void Activity::note_name(std::uint64_t address) noexcept {
    if (address == 0) return;
    const char* text = reinterpret_cast<const char*>(address);
    std::size_t size = std::strlen(text);
    std::uint64_t hash = fnv1a({text, size}) | 1;
    if (known_ != nullptr) {
        KnownName& known = known_[(address >> 4) * 0x9E3779B97F4A7C15u >> 48];
        if (known.address == address && known.hash == hash) return;
        known = {address, hash};
    }
    names_.add(spool::NameSpace::pointer);
    names_.add(address);
    names_.add_text({text, size});
}

std::uint64_t Activity::timestamp() const noexcept {
    std::uint64_t now = 0;
    bool read = running() && cupti_->cuptiGetTimestamp != nullptr && cupti_->cuptiGetTimestamp(&now) == kCuptiSuccess;
    return read ? now : 0;
}

std::uint64_t Activity::dropped() noexcept {
    if (running()) dropped_ += cupti_multiplexer().take_dropped(ClientId::ours);
    return dropped_ + buffers().unknown() + buffers().discarded();
}

}  // namespace gpuprof::inject
