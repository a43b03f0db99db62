#include "collect/inject/spool/buffers.h"

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "collect/inject/collector.h"
#include "collect/inject/cupti/cupti_api.h"
#include "collect/inject/cupti/cupti_multiplexer.h"
#include "collect/inject/cupti/other_client.h"
#include "collect/inject/overhead_timer.h"
#include "collect/inject/spool/scratch.h"
#include "core/base/fnv.h"
#include "core/format/cupti_records.h"

namespace gpuprof::inject {
namespace {

// Copies of kernel names. A record points to the name in the program's module, which may be unloaded soon after CUPTI has
// returned the record, while the spool thread looks only every 10 ms. So names are copied as buffers return, on CUPTI's
// thread, and the records then point to the copies. Each text is kept once and never freed.
// A name that is longer than kMaxBytes, or for which there is no room, is left where it is.

class KernelNames {
public:
    static constexpr std::size_t kMaxBytes = std::size_t{32} << 10, kTexts = 1 << 14, kProbes = 8;

    // In all kernel records of a buffer. `free_data`: that of records of overhead is ours to free, too. Any thread;
    // lock-free.
    void keep(const Cupti& cupti, std::uint8_t* bytes, std::size_t valid, bool free_data) noexcept;

private:
    struct Text {
        std::uint64_t hash;
        std::size_t size;
        const char* characters() const noexcept { return reinterpret_cast<const char*>(this + 1); }
    };
    // The copy, or the text itself.
    const char* kept(const char* text) noexcept;
    const Text* find_or_add(const char* text, std::size_t size) noexcept;

    Arena arena_;
    std::atomic<const Text*> texts_[kTexts] = {};       // by hash of the text
    std::atomic<const Text*> by_address_[kTexts] = {};  // the last text seen at an address: most names are known
};

constinit KernelNames all_kernel_names;

std::size_t place_of(std::uint64_t key) noexcept { return (key * 0x9E3779B97F4A7C15u) >> 50; }
static_assert(KernelNames::kTexts == std::size_t{1} << (64 - 50));

KernelNames& kernel_names() noexcept { return all_kernel_names; }

// Source: cupti_activity.h of CUPTI 12.4 and later, overheadData.
void free_overhead_data(std::uint8_t* record, const std::uint8_t* end) noexcept {
    cupti::Record view({reinterpret_cast<const char*>(record), static_cast<std::size_t>(end - record)});
    if (view.kind() != cupti::Kind::overhead || view.get(cupti::overhead::data) == 0) return;
    std::free(reinterpret_cast<void*>(view.get(cupti::overhead::data)));
    std::memset(record + cupti::overhead::data.offset, 0, sizeof(std::uint64_t));
}

void KernelNames::keep(const Cupti& cupti, std::uint8_t* bytes, std::size_t valid, bool free_data) noexcept {
    std::uint8_t* record = nullptr;
    while (cupti.cuptiActivityGetNextRecord(bytes, valid, &record) == kCuptiSuccess && record != nullptr) {
        if (free_data) free_overhead_data(record, bytes + valid);
        cupti::Record view({reinterpret_cast<const char*>(record), static_cast<std::size_t>(bytes + valid - record)});
        if (!cupti::is_kernel(view.kind())) continue;
        std::uint64_t address = view.get(cupti::kernel::name);
        if (address == 0) continue;
        address = reinterpret_cast<std::uint64_t>(kept(reinterpret_cast<const char*>(address)));
        std::memcpy(record + cupti::kernel::name.offset, &address, sizeof address);
    }
}

const char* KernelNames::kept(const char* text) noexcept {
    std::atomic<const Text*>& last = by_address_[place_of(reinterpret_cast<std::uint64_t>(text) >> 4)];
    const Text* known = last.load(std::memory_order_acquire);
    if (known != nullptr && std::strcmp(text, known->characters()) == 0) return known->characters();
    std::size_t size = strnlen(text, kMaxBytes + 1);
    if (size > kMaxBytes) return text;
    known = find_or_add(text, size);
    if (known == nullptr) return text;
    last.store(known, std::memory_order_release);
    return known->characters();
}

const KernelNames::Text* KernelNames::find_or_add(const char* text, std::size_t size) noexcept {
    std::uint64_t hash = fnv1a({text, size});
    for (std::size_t i = 0; i < kProbes; ++i) {
        std::atomic<const Text*>& place = texts_[(place_of(hash) + i) % kTexts];
        const Text* there = place.load(std::memory_order_acquire);
        if (there == nullptr) {
            void* memory = arena_.room((sizeof(Text) + size + 1 + 7) / 8 * 8);
            if (memory == nullptr) return nullptr;
            const Text made{hash, size};
            std::memcpy(memory, &made, sizeof made);
            std::memcpy(static_cast<char*>(memory) + sizeof made, text, size);
            auto* added = static_cast<const Text*>(memory);
            if (place.compare_exchange_strong(there, added, std::memory_order_acq_rel)) return added;
        }
        if (there->hash == hash && there->size == size && std::memcmp(there->characters(), text, size) == 0)
            return there;
    }
    return nullptr;
}

constinit Buffers pool;

}  // namespace

Buffers& buffers() noexcept { return pool; }

int Buffers::hand_to(const Cupti& cupti) noexcept {
    cupti_ = &cupti;
    constexpr std::uint32_t kFirstVersionWithoutBuffer =
        27;                                              // API version of CUDA 12.9; source: pytorch/kineto, issue 1534
    constexpr std::uint32_t kFirstVersionWithData = 22;  // of CUDA 12.4
    std::uint32_t version = 0;
    cupti.cuptiGetVersion(&version);
    needs_buffer_ = version < kFirstVersionWithoutBuffer;
    owns_data_ = version >= kFirstVersionWithData;
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
        constexpr auto kOverhead = static_cast<std::uint32_t>(cupti::Kind::overhead);
        bool ours = pool.owns_data_ && !cupti_multiplexer().wants(ClientId::other, kOverhead, 0);
        if (slot.valid > 0) kernel_names().keep(*pool.cupti_, buffer, slot.valid, ours);
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
