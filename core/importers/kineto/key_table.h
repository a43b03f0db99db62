// A perfect hash over a few known texts, built at compile time: from the bytes of a JSON key to its enumerator in a few
// cycles. The hash looks at the length and four bytes; a search at compile time finds multipliers without a
// collision, so a lookup is one comparison.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gpuprof::kineto {

template <class Enum>
struct KeyName {
    std::string_view text;
    Enum value;
};

template <class Enum, std::size_t N>
class KeyTable {
public:
    static constexpr std::size_t kSlots = 256;

    consteval explicit KeyTable(const KeyName<Enum> (&names)[N]) {
        while (!place(names)) ++seed_;
    }

    // The enumerator of `text`, or `unknown`.
    Enum find(std::string_view text, Enum unknown) const {
        const KeyName<Enum>& slot = slots_[slot_of(text)];
        return slot.text == text ? slot.value : unknown;
    }

private:
    constexpr std::size_t slot_of(std::string_view text) const {
        if (text.empty()) return 0;
        auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
        std::size_t n = text.size();
        std::uint32_t bytes = byte(0) | byte(n / 2) << 8 | byte(n * 3 / 4) << 16 | byte(n - 1) << 24;
        return (bytes + static_cast<std::uint32_t>(n) * 0x85EBCA6Bu) * (2 * seed_ + 0x9E3779B1u) >> 24;
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

}  // namespace gpuprof::kineto
