#include "collect/inject/spool/buffers.h"

#include <sys/mman.h>

#include <cstring>

#include "collect/inject/collector.h"
#include "collect/inject/cupti/other_client.h"
#include "collect/inject/kernel_name_store.h"
#include "collect/inject/overhead_timer.h"

namespace gpuprof::inject {
namespace {

constinit Buffers pool;

}  // namespace

Buffers& buffers() noexcept { return pool; }

int Buffers::hand_to(const Cupti& cupti) noexcept {
    cupti_ = &cupti;
    constexpr std::uint32_t kFirstVersionWithoutBuffer =
        27;  // API version of CUDA 12.9; source: pytorch/kineto, issue 1534
    std::uint32_t version = 0;
    cupti.cuptiGetVersion(&version);
    needs_buffer_ = version < kFirstVersionWithoutBuffer;
    return cupti.cuptiActivityRegisterCallbacks(request, complete);
}

// Maps a slot's buffer at its first use; fresh pages are zero, as CUPTI requires.
bool Buffers::mapped(Slot& slot) noexcept {
    if (slot.bytes.load(std::memory_order_relaxed) != nullptr) return true;
    void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    slot.bytes.store(static_cast<std::uint8_t*>(memory), std::memory_order_relaxed);
    return true;
}

void Buffers::request(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) noexcept {
    OverheadTimer timed;
    *max_records = 0;  // as many as fit
    *buffer = nullptr;
    *size = 0;
    for (Slot& slot : pool.slots_) {
        std::uint32_t free = kFree;
        if (!slot.state.compare_exchange_strong(free, kGiven, std::memory_order_acquire)) continue;
        if (!mapped(slot)) {
            slot.state.store(kFree, std::memory_order_release);
            break;
        }
        *buffer = slot.bytes.load(std::memory_order_relaxed);
        *size = kBytes;
        return;
    }
    if (pool.needs_buffer_) request_spare(buffer, size);
}

// If more threads than spares need one, they share the last: its content is lost anyway.
void Buffers::request_spare(std::uint8_t** buffer, std::size_t* size) noexcept {
    Spare* spare = &pool.spares_[kMaxSpares - 1];
    for (Spare& each : pool.spares_) {
        std::uint32_t free = kFree;
        if (!each.state.compare_exchange_strong(free, kGiven, std::memory_order_acquire)) continue;
        spare = &each;
        break;
    }
    *buffer = spare->bytes;
    *size = Spare::kSize;
}

// Whether it was a spare: counts its records and frees it.
bool Buffers::complete_spare(std::uint8_t* buffer, std::size_t valid) noexcept {
    for (Spare& spare : pool.spares_) {
        if (buffer != spare.bytes) continue;
        std::uint64_t records = 0;
        std::uint8_t* record = nullptr;
        while (pool.cupti_->cuptiActivityGetNextRecord(buffer, valid, &record) == kCuptiSuccess && record != nullptr)
            ++records;
        pool.discarded_.fetch_add(records, std::memory_order_relaxed);
        std::memset(spare.bytes, 0, valid <= Spare::kSize ? valid : Spare::kSize);
        spare.state.store(kFree, std::memory_order_release);
        return true;
    }
    return false;
}

void Buffers::complete(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                       std::size_t valid) noexcept {
    OverheadTimer timed;
    for (Slot& slot : pool.slots_) {
        if (slot.bytes.load(std::memory_order_relaxed) != buffer || buffer == nullptr) continue;
        slot.valid = valid <= kBytes ? valid : 0;
        if (settings().cupti == CuptiPolicy::share && slot.valid > 0)
            other_client().copy(*pool.cupti_, buffer, slot.valid);
        if (slot.valid > 0) kernel_names().keep(*pool.cupti_, buffer, slot.valid);
        slot.turn = pool.turns_.fetch_add(1, std::memory_order_relaxed);
        slot.state.store(kReturned, std::memory_order_release);
        return;
    }
    if (complete_spare(buffer, valid)) return;
    if (other_client().present())  // from before we subscribed
        other_client().give_back(context, stream, buffer, size, valid);
    else
        pool.unknown_.fetch_add(1, std::memory_order_relaxed);
}

Buffers::Slot* Buffers::earliest_returned() noexcept {
    Slot* earliest = nullptr;
    for (Slot& slot : slots_)
        if (slot.state.load(std::memory_order_acquire) == kReturned &&
            (earliest == nullptr || slot.turn < earliest->turn))
            earliest = &slot;
    return earliest;
}

void Buffers::free(Slot& slot) noexcept {
    std::memset(slot.bytes.load(std::memory_order_relaxed), 0, slot.valid);
    slot.state.store(kFree, std::memory_order_release);
}

void Buffers::forget() noexcept {
    for (Slot& slot : slots_) {
        slot.bytes.store(nullptr, std::memory_order_relaxed);
        slot.state.store(kFree, std::memory_order_relaxed);
    }
    unknown_.store(0, std::memory_order_relaxed);
    discarded_.store(0, std::memory_order_relaxed);
}

std::uint64_t Buffers::given() const noexcept {
    std::uint64_t given = 0;
    for (const Slot& slot : slots_) given += slot.state.load(std::memory_order_acquire) == kGiven;
    return given;
}

std::uint64_t Buffers::outstanding() const noexcept {
    std::uint64_t outstanding = 0;
    for (const Slot& slot : slots_) outstanding += slot.state.load(std::memory_order_acquire) != kFree;
    return outstanding;
}

}  // namespace gpuprof::inject
