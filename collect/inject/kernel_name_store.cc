#include "collect/inject/kernel_name_store.h"

#include <cstring>

#include "core/base/fnv.h"
#include "core/format/cupti_records.h"

namespace gpuprof::inject {
namespace {

constinit KernelNames all_kernel_names;

std::size_t place_of(std::uint64_t key) noexcept { return (key * 0x9E3779B97F4A7C15u) >> 50; }
static_assert(KernelNames::kTexts == std::size_t{1} << (64 - 50));

}  // namespace

KernelNames& kernel_names() noexcept { return all_kernel_names; }

void KernelNames::keep(const Cupti& cupti, std::uint8_t* bytes, std::size_t valid) noexcept {
    std::uint8_t* record = nullptr;
    while (cupti.cuptiActivityGetNextRecord(bytes, valid, &record) == kCuptiSuccess && record != nullptr) {
        cupti::Record view({reinterpret_cast<const char*>(record), static_cast<std::size_t>(bytes + valid - record)});
        if (view.kind() != cupti::Kind::concurrent_kernel) continue;
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

}  // namespace gpuprof::inject
