#include "core/format/bytes.h"

namespace gpuprof::inline format {
namespace {

void put_number(std::string& out, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) put_u8(out, static_cast<std::uint8_t>(value >> (8 * i)));
}

std::uint64_t load(std::string_view bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
    return value;
}

}  // namespace

void put_u32(std::string& out, std::uint32_t value) { put_number(out, value, 4); }
void put_u64(std::string& out, std::uint64_t value) { put_number(out, value, 8); }

void put_varint(std::string& out, std::uint64_t value) {
    while (value >= 0x80) {
        put_u8(out, static_cast<std::uint8_t>(value | 0x80));
        value >>= 7;
    }
    put_u8(out, static_cast<std::uint8_t>(value));
}

void put_text(std::string& out, std::string_view text) {
    put_varint(out, text.size());
    out.append(text);
}

std::uint32_t load_u32(const char* bytes) { return static_cast<std::uint32_t>(load({bytes, 4})); }

std::uint64_t ByteCursor::varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        std::uint64_t byte = u8();
        if (shift == 63 && byte > 1) break;  // more than 64 bits
        value |= (byte & 0x7F) << shift;
        if (byte < 0x80) return ok_ ? value : 0;
    }
    ok_ = false;
    return 0;
}

std::string_view ByteCursor::take(std::uint64_t size) {
    if (!ok_ || size > rest_.size()) {
        ok_ = false;
        return {};
    }
    std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
}

std::uint64_t ByteCursor::number(std::size_t bytes) { return load(take(bytes)); }

}  // namespace gpuprof::format
