// Records as the bytes of a packet, for both ends of a process link (collect/device/process_link.h). A record lists its
// fields once, for writing and reading, in a function in its namespace:
//
//   template <SameRecord<Start> Record, class Visit>
//   void visit_fields(Record& r, Visit& visit) { visit(r.request, r.warmup); }
//
// Both ends are the same build, so there are no versions. Input is checked anyway: a broken driver may overwrite the
// memory of the sending process.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/format/bytes.h"

namespace gpuprof::inline device {

template <class Record, class Of>
concept SameRecord = std::same_as<std::remove_const_t<Record>, Of>;

class PacketEncoder {
public:
    explicit PacketEncoder(std::string& out) : out_(out) {}

    template <class Value>
    void operator()(const Value& value) {
        if constexpr (std::is_same_v<Value, std::string>)
            put_text(out_, value);
        else if constexpr (std::is_same_v<Value, bool>)
            put_u8(out_, value ? 1 : 0);
        else if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>)
            put_signed(out_, static_cast<std::int64_t>(value));
        else if constexpr (std::is_same_v<Value, double>)
            put_u64(out_, std::bit_cast<std::uint64_t>(value));
        else
            visit_fields(value, *this);
    }
    template <class... Values>
    void operator()(const Values&... values) requires(sizeof...(Values) > 1) {
        ((*this)(values), ...);
    }
    template <class Value>
    void operator()(const std::optional<Value>& value) {
        put_u8(out_, value ? 1 : 0);
        if (value) (*this)(*value);
    }
    template <class Value>
    void operator()(const std::vector<Value>& values) {
        put_varint(out_, values.size());
        for (const Value& value : values) (*this)(value);
    }

private:
    std::string& out_;
};

class PacketDecoder {
public:
    explicit PacketDecoder(std::string_view bytes) : cursor_(bytes) {}
    // Whether all bytes existed and were consumed.
    bool complete() const { return cursor_.ok() && cursor_.left() == 0; }

    // Enumerations are not checked for valid values.
    template <class Value>
    void operator()(Value& value) {
        if constexpr (std::is_same_v<Value, std::string>)
            value = cursor_.text();
        else if constexpr (std::is_same_v<Value, bool>)
            value = cursor_.u8() != 0;
        else if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>)
            value = static_cast<Value>(cursor_.signed_varint());
        else if constexpr (std::is_same_v<Value, double>)
            value = std::bit_cast<double>(cursor_.u64());
        else
            visit_fields(value, *this);
    }
    template <class... Values>
    void operator()(Values&... values) requires(sizeof...(Values) > 1) {
        ((*this)(values), ...);
    }
    template <class Value>
    void operator()(std::optional<Value>& value) {
        value.reset();
        if (cursor_.u8() != 0) (*this)(value.emplace());
    }
    template <class Value>
    void operator()(std::vector<Value>& values) {
        values.clear();
        std::uint64_t count = cursor_.varint();
        // every value has at least one byte, so the packet is invalid
        if (count > cursor_.left()) cursor_.take(cursor_.left() + 1);
        for (std::uint64_t i = 0; i < count && cursor_.ok(); ++i) (*this)(values.emplace_back());
    }

private:
    ByteCursor cursor_;
};

// A packet: one byte that identifies the record, then its fields.
template <class Record>
std::string encode_packet(std::uint8_t kind, const Record& record) {
    std::string packet;
    put_u8(packet, kind);
    PacketEncoder encoder(packet);
    visit_fields(record, encoder);
    return packet;
}

// Absent if it is of another kind, truncated, or longer than its fields.
template <class Record>
std::optional<Record> decode_packet(std::uint8_t kind, std::string_view packet) {
    if (packet.empty() || static_cast<std::uint8_t>(packet[0]) != kind) return std::nullopt;
    Record record;
    PacketDecoder decoder(packet.substr(1));
    visit_fields(record, decoder);
    if (!decoder.complete()) return std::nullopt;
    return record;
}

}  // namespace gpuprof::device
