#include "collect/inject/activity.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "core/format/cupti_records.h"
#include "core/format/spool.h"

namespace gpuprof::inject {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::size_t kBuffers = 64;

// Where a buffer is: ours, CUPTI's, or back with records.
enum State : std::uint32_t { kFree, kGiven, kReturned };
struct Slot {
    std::atomic<std::uint32_t> state{kFree};
    std::uint64_t turn = 0;  // the order of return
    std::size_t valid = 0;
    std::uint8_t* bytes = nullptr;
};
Slot slots[kBuffers];
std::atomic<std::uint64_t> turns{0};
std::atomic<std::uint64_t> unknown_buffers{0};

// Maps a slot's buffer at its first use; fresh pages are zero, as CUPTI wants them.
bool mapped(Slot& slot) noexcept {
    if (slot.bytes != nullptr) return true;
    void* memory = mmap(nullptr, kBufferBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    slot.bytes = static_cast<std::uint8_t*>(memory);
    return true;
}

void request_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
    *most_records = 0;  // as many as fit
    *buffer = nullptr;
    *size = 0;
    for (Slot& slot : slots) {
        std::uint32_t free = kFree;
        if (!slot.state.compare_exchange_strong(free, kGiven, std::memory_order_acquire)) continue;
        if (!mapped(slot)) {
            slot.state.store(kFree, std::memory_order_release);
            return;  // CUPTI counts what it drops
        }
        *buffer = slot.bytes;
        *size = kBufferBytes;
        return;
    }
}

void complete_buffer(void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
    for (Slot& slot : slots) {
        if (slot.bytes != buffer || buffer == nullptr) continue;
        slot.valid = valid <= kBufferBytes ? valid : 0;
        slot.turn = turns.fetch_add(1, std::memory_order_relaxed);
        slot.state.store(kReturned, std::memory_order_release);
        return;
    }
    unknown_buffers.fetch_add(1, std::memory_order_relaxed);
}

Slot* earliest_returned() noexcept {
    Slot* earliest = nullptr;
    for (Slot& slot : slots)
        if (slot.state.load(std::memory_order_acquire) == kReturned &&
            (earliest == nullptr || slot.turn < earliest->turn))
            earliest = &slot;
    return earliest;
}

// Functions worth a record: they submit work, wait for it, or manage memory and code. A name matches by how it begins.
constexpr const char* kWanted[] = {
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
    "cudaEventSynchronize",
    "cudaStreamWaitEvent",
    "cudaGraphInstantiate",
    "cuLaunch",
    "cuGraphLaunch",
    "cuMemcpy",
    "cuMemset",
    "cuMemAlloc",
    "cuMemFree",
    "cuMemHostAlloc",
    "cuStreamSynchronize",
    "cuCtxSynchronize",
    "cuEventSynchronize",
    "cuModuleLoad",
    "cuModuleUnload",
    "cuLibraryLoad",
    "cuLinkComplete",
    "cuMemCreate",
    "cuMemMap",
};
bool wanted(const char* name) noexcept {
    for (const char* prefix : kWanted)
        if (std::strncmp(name, prefix, std::strlen(prefix)) == 0) return true;
    return false;
}

// Callback ids end well before this in every version.
constexpr std::uint32_t kMostFunctions = 2000;

std::uint64_t hash_of(const char* text, std::size_t size) noexcept {
    std::uint64_t hash = 1469598103934665603u;  // FNV-1a
    for (std::size_t i = 0; i < size; ++i) hash = (hash ^ static_cast<unsigned char>(text[i])) * 1099511628211u;
    return hash | 1;
}

}  // namespace

// Notes the first thing that failed, with CUPTI's own words for the code.
void Activity::refuse(const char* what, int code) noexcept {
    if (refusal_[0] != '\0') return;
    const char* words = nullptr;
    if (cupti_.cuptiGetResultString != nullptr) cupti_.cuptiGetResultString(code, &words);
    std::snprintf(refusal_, sizeof refusal_, "%.60s: CUPTI answers %d%s%.80s (%.300s)", what, code,
                  words != nullptr ? " " : "", words != nullptr ? words : "", cupti_.path);
}

bool Activity::switch_on(cupti::Kind kind, const char* what) noexcept {
    int code = cupti_.cuptiActivityEnable(static_cast<std::uint32_t>(kind));
    if (code != kCuptiSuccess) refuse(what, code);
    return code == kCuptiSuccess;
}

std::uint64_t Activity::kept() noexcept {
    std::uint64_t kept = 0;
    for (Slot& slot : slots) kept += slot.state.load(std::memory_order_acquire) == kGiven;
    return kept;
}

bool Activity::start(const Settings& settings) noexcept {
    if (!cupti_.load(settings.cupti)) {
        std::snprintf(refusal_, sizeof refusal_,
                      "GPU work: libcupti was not found; install it (nvidia-cuda-cupti) or name it in GPUPROF_CUPTI");
        return false;
    }
    constexpr std::uint32_t kSystemThreadIds = 1, kZeroedBuffers = 5;
    if (cupti_.cuptiSetThreadIdType != nullptr) cupti_.cuptiSetThreadIdType(kSystemThreadIds);
    if (cupti_.cuptiActivitySetAttribute != nullptr) {
        std::uint8_t yes = 1;
        std::size_t bytes = sizeof yes;
        cupti_.cuptiActivitySetAttribute(kZeroedBuffers, &bytes, &yes);
    }
    if (int code = cupti_.cuptiActivityRegisterCallbacks(request_buffer, complete_buffer); code != kCuptiSuccess) {
        refuse("GPU work", code);
        return false;
    }
    using cupti::Kind;
    struct Wanted {
        Kind kind;
        const char* what;
    };
    bool any = false;
    for (Wanted each :
         {Wanted{Kind::device, "devices"}, Wanted{Kind::concurrent_kernel, "kernels"}, Wanted{Kind::memcpy, "copies"},
          Wanted{Kind::memcpy_p2p, "copies between devices"}, Wanted{Kind::memset, "fills"},
          Wanted{Kind::overhead, "CUPTI's overhead"}, Wanted{Kind::external_correlation, "external correlation ids"}})
        any |= switch_on(each.kind, each.what);
    if (settings.graph_level) switch_on(Kind::graph_trace, "graph launches");
    bool by_name = cupti_.cuptiGetCallbackName != nullptr && cupti_.cuptiActivityEnableRuntimeApi != nullptr;
    if (settings.all_api || !by_name) {
        any |= switch_on(Kind::runtime, "runtime calls");
        if (settings.all_api) switch_on(Kind::driver, "driver calls");
    } else {
        enable_functions(kRuntimeDomain, cupti_.cuptiActivityEnableRuntimeApi);
        enable_functions(kDriverDomain, cupti_.cuptiActivityEnableDriverApi);
    }
    void* memory = mmap(nullptr, kKnown * sizeof(Known), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    known_ = memory == MAP_FAILED ? nullptr : static_cast<Known*>(memory);
    return running_ = any;
}

void Activity::enable_functions(std::uint32_t domain, int (*enable)(std::uint32_t, std::uint8_t)) noexcept {
    if (enable == nullptr) return;
    for (std::uint32_t cbid = 1; cbid < kMostFunctions; ++cbid) {
        const char* name = nullptr;
        if (cupti_.cuptiGetCallbackName(domain, cbid, &name) != kCuptiSuccess || name == nullptr) continue;
        if (wanted(name)) enable(cbid, 1);
    }
}

bool Activity::write_function_names(SpoolFile& file) noexcept {
    if (cupti_.cuptiGetCallbackName == nullptr) return true;
    names_.clear();
    for (std::uint32_t domain : {kRuntimeDomain, kDriverDomain})
        for (std::uint32_t cbid = 1; cbid < kMostFunctions; ++cbid) {
            const char* name = nullptr;
            if (cupti_.cuptiGetCallbackName(domain, cbid, &name) != kCuptiSuccess || name == nullptr) continue;
            names_.add(domain == kRuntimeDomain ? spool::NameSpace::runtime_api : spool::NameSpace::driver_api);
            names_.add(std::uint64_t{cbid});
            names_.add_text(name);
        }
    return names_.size() == 0 || file.write(ChunkKind::spool_names, names_.view());
}

void Activity::flush(bool forced) noexcept {
    if (running_) cupti_.cuptiActivityFlushAll(forced ? 1 : 0);
}

void Activity::drain(SpoolFile& file) noexcept {
    while (Slot* slot = earliest_returned()) {
        if (slot->valid > 0) write_buffer(file, slot->bytes, slot->valid);
        std::memset(slot->bytes, 0, slot->valid);
        slot->state.store(kFree, std::memory_order_release);
    }
}

// The lengths of records come from where the next one begins, which CUPTI alone knows for its version.
void Activity::write_buffer(SpoolFile& file, std::uint8_t* bytes, std::size_t valid) noexcept {
    constexpr std::size_t kKinds = 64;
    std::uint32_t lengths[kKinds] = {};
    auto measure = [&](const std::uint8_t* record, const std::uint8_t* next) {
        std::uint32_t kind = 0;
        std::memcpy(&kind, record, sizeof kind);
        if (kind < kKinds) lengths[kind] = static_cast<std::uint32_t>(next - record);
    };
    names_.clear();
    std::uint8_t *record = nullptr, *before = nullptr;
    while (cupti_.cuptiActivityGetNextRecord(bytes, valid, &record) == kCuptiSuccess && record != nullptr) {
        if (before != nullptr) measure(before, record);
        before = record;
        cupti::Record view({reinterpret_cast<const char*>(record), static_cast<std::size_t>(bytes + valid - record)});
        if (view.kind() == cupti::Kind::concurrent_kernel) note_name(view.get(cupti::kernel::name));
        if (view.kind() == cupti::Kind::device) note_name(view.get(cupti::device::name));
    }
    if (before != nullptr) measure(before, bytes + valid);
    bool named = names_.size() == 0 || file.write(ChunkKind::spool_names, names_.view());
    for (std::size_t i = 0; !named && known_ != nullptr && i < kKnown; ++i) known_[i] = {};  // to be written again
    head_.clear();
    std::uint32_t kinds = 0;
    for (std::uint32_t length : lengths) kinds += length > 0;
    head_.add(kinds);
    for (std::uint32_t kind = 0; kind < kKinds; ++kind)
        if (lengths[kind] > 0) head_.add(kind), head_.add(lengths[kind]);
    file.write(ChunkKind::spool_activity, head_.view(), {reinterpret_cast<const char*>(bytes), valid});
}

void Activity::note_name(std::uint64_t address) noexcept {
    if (address == 0) return;
    const char* text = reinterpret_cast<const char*>(address);
    std::size_t size = std::strlen(text);
    std::uint64_t hash = hash_of(text, size);
    if (known_ != nullptr) {
        Known& known = known_[(address >> 4) * 0x9E3779B97F4A7C15u >> 48];
        if (known.address == address && known.hash == hash) return;
        known = {address, hash};
    }
    names_.add(spool::NameSpace::pointer);
    names_.add(address);
    names_.add_text({text, size});
}

std::uint64_t Activity::timestamp() const noexcept {
    std::uint64_t now = 0;
    if (running_ && cupti_.cuptiGetTimestamp != nullptr) cupti_.cuptiGetTimestamp(&now);
    return now;
}

// CUPTI tells each dropped record once.
std::uint64_t Activity::dropped() noexcept {
    std::size_t more = 0;
    if (running_ && cupti_.cuptiActivityGetNumDroppedRecords != nullptr &&
        cupti_.cuptiActivityGetNumDroppedRecords(nullptr, 0, &more) == kCuptiSuccess)
        dropped_ += more;
    return dropped_ + unknown_buffers.load(std::memory_order_relaxed);
}

}  // namespace gpuprof::inject
