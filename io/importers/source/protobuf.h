// The wire format of protocol buffers, field by field and without copies. The input is not trusted: a field that
// exceeds the end of its message ends the reading, and damaged() reports it.
// Format: https://protobuf.dev/programming-guides/encoding.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace gpuprof::inline importers {

class ProtobufFields {
public:
    explicit ProtobufFields(std::string_view message) : rest_(message) {}

    // Moves to the next field; false at the end or at damage. Not inline: readers have a hundred loops over fields.
    [[gnu::noinline]] bool next() {
        std::uint64_t tag = 0, size = 0;
        if (rest_.empty()) return false;
        if (!varint(tag)) return fail();
        number_ = static_cast<std::uint32_t>(tag >> 3);
        value_ = 0;
        bytes_ = {};
        switch (tag & 7) {
            case 0: return varint(value_) || fail();
            case 1: return fixed(8) || fail();
            case 5: return fixed(4) || fail();
            case 2: break;
            default: return fail();  // groups: deprecated, and absent from these formats
        }
        if (!varint(size) || size > rest_.size()) return fail();
        bytes_ = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return true;
    }

    std::uint32_t number() const { return number_; }
    std::uint64_t value() const { return value_; }
    std::int64_t integer() const { return static_cast<std::int64_t>(value_); }
    double real() const { return std::bit_cast<double>(value_); }
    // The bytes of a text or a nested message.
    std::string_view bytes() const { return bytes_; }
    bool is_bytes() const { return bytes_.data() != nullptr; }
    // Every number of a repeated field, packed or not.
    template <class Visit>
    void each_integer(Visit visit) {
        if (!is_bytes()) return visit(value_);
        ProtobufFields packed(bytes_);
        for (std::uint64_t value = 0; !packed.rest_.empty();) {
            if (!packed.varint(value)) return void(fail());
            visit(value);
        }
    }
    bool damaged() const { return damaged_; }

private:
    bool fail() {
        rest_ = {};
        damaged_ = true;
        return false;
    }
    bool varint(std::uint64_t& value) {
        value = 0;
        for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
            auto byte = static_cast<unsigned char>(rest_.front());
            rest_.remove_prefix(1);
            value |= std::uint64_t{byte & 0x7Fu} << shift;
            if (byte < 0x80) return true;
        }
        return false;
    }
    bool fixed(std::size_t size) {
        if (size > rest_.size()) return false;
        for (std::size_t i = 0; i < size; ++i) value_ |= std::uint64_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
        rest_.remove_prefix(size);
        return true;
    }

    std::string_view rest_, bytes_;
    std::uint64_t value_ = 0;
    std::uint32_t number_ = 0;
    bool damaged_ = false;
};

}  // namespace gpuprof::importers
