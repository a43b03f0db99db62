// A perfect hash over a few known texts, built at compile time: it maps the bytes of a JSON key to its enumerator in a
// few cycles. The hash uses the length and four bytes; a compile-time search finds multipliers without a collision, so
// a lookup is one comparison.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace gpuprof::inline importers::kineto {

template <class Enum>
struct KeyName {
    std::string_view text;
    Enum value;
};

// Equality of two texts of n bytes in a few loads; calling memcmp would cost more than the comparison.
[[gnu::always_inline]] inline bool same_bytes(const char* a, const char* b, std::size_t n) {
    auto differ = [&]<class Word>(std::size_t at, Word) {
        Word x, y;
        std::memcpy(&x, a + at, sizeof x);
        std::memcpy(&y, b + at, sizeof y);
        return x ^ y;
    };
    if (n >= 8) {
        for (std::size_t at = 0; at + 8 < n; at += 8)
            if (differ(at, std::uint64_t{}) != 0) return false;
        return differ(n - 8, std::uint64_t{}) == 0;
    }
    if (n >= 4) return (differ(0, std::uint32_t{}) | differ(n - 4, std::uint32_t{})) == 0;
    for (std::size_t at = 0; at < n; ++at)
        if (a[at] != b[at]) return false;
    return true;
}

inline bool same_text(std::string_view a, std::string_view b) {
    return a.size() == b.size() && same_bytes(a.data(), b.data(), a.size());
}

template <class Enum, std::size_t N>
class KeyTable {
public:
    static constexpr std::size_t kSlots = 512;

    consteval explicit KeyTable(const KeyName<Enum> (&names)[N]) {
        while (!place(names)) ++seed_;
    }

    // The enumerator of `text`, or `unknown`.
    Enum find(std::string_view text, Enum unknown) const {
        const KeyName<Enum>& slot = slots_[slot_of(text)];
        return same_text(slot.text, text) && !text.empty() ? slot.value : unknown;
    }

private:
    constexpr std::size_t slot_of(std::string_view text) const {
        if (text.empty()) return 0;
        auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
        std::size_t n = text.size();
        std::uint32_t bytes = byte(0) | byte(n / 2) << 8 | byte(n * 3 / 4) << 16 | byte(n - 1) << 24;
        return (bytes + static_cast<std::uint32_t>(n) * 0x85EBCA6Bu) * (2 * seed_ + 0x9E3779B1u) >> 23;
    }
    consteval bool place(const KeyName<Enum> (&names)[N]) {
        slots_ = {};
        for (const KeyName<Enum>& name : names) {
            KeyName<Enum>& slot = slots_[slot_of(name.text)];
            if (!slot.text.empty()) return false;
            slot = name;
        }
        return true;
    }

    std::uint32_t seed_ = 0;
    std::array<KeyName<Enum>, kSlots> slots_{};
};

template <class Enum, std::size_t N>
KeyTable(const KeyName<Enum> (&)[N]) -> KeyTable<Enum, N>;

}  // namespace gpuprof::importers::kineto
