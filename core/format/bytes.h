// Little-endian bytes of the capture file: appended to a string, read by a cursor that cannot leave its range. A
// ByteCursor never fails half-way: once a read did not fit, ok() stays false and every later read returns zero, so
// decoders check once after a group of reads. Compare counts read from a file with left() before allocating that
// much. Varints are LEB128: 7 bits per byte, low bits first, at most 10 bytes. Signed values are zigzag-coded
// first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpuprof::inline format {

constexpr std::uint64_t zigzag(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
    return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

inline void put_u8(std::string& out, std::uint8_t value) { out.push_back(static_cast<char>(value)); }
void put_u32(std::string& out, std::uint32_t value);
void put_u64(std::string& out, std::uint64_t value);
void put_varint(std::string& out, std::uint64_t value);
inline void put_signed(std::string& out, std::int64_t value) { put_varint(out, zigzag(value)); }
// Length as varint, then the bytes.
void put_text(std::string& out, std::string_view text);

// `bytes` has at least 4 bytes.
std::uint32_t load_u32(const char* bytes);

class ByteCursor {
public:
    explicit ByteCursor(std::string_view bytes) : rest_(bytes) {}

    bool ok() const { return ok_; }
    std::size_t left() const { return rest_.size(); }
    std::uint8_t u8() { return static_cast<std::uint8_t>(number(1)); }
    std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
    std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
    std::uint64_t u64() { return number(8); }
    std::uint64_t varint();
    std::int64_t signed_varint() { return unzigzag(varint()); }
    std::string_view text() { return take(varint()); }
    // The next `size` bytes; empty if there are fewer.
    std::string_view take(std::uint64_t size);

private:
    std::uint64_t number(std::size_t bytes);

    std::string_view rest_;
    bool ok_ = true;
};

// Calls visit(key, value) for each whole pair of texts; a text is a u32 length and that many bytes. False if bytes were left over.
template <class Visit>
bool each_pair(std::string_view bytes, Visit&& visit) {
    ByteCursor cursor(bytes);
    while (cursor.left() > 0 && cursor.ok()) {
        std::string_view key = cursor.take(cursor.u32()), value = cursor.take(cursor.u32());
        if (cursor.ok()) visit(key, value);
    }
    return cursor.ok();
}

}  // namespace gpuprof::format
