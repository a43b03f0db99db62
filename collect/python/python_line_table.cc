#include "collect/python/python_line_table.h"

namespace gpuprof::python {
namespace {

// The largest accepted line number; a sum beyond it indicates a broken table.
constexpr std::int64_t kMaxLines = 100'000'000;

std::optional<std::int32_t> checked(std::int64_t line) {
    return line >= 0 && line <= kMaxLines ? std::optional(static_cast<std::int32_t>(line)) : std::nullopt;
}

// Pairs of bytes: a step in bytes of code, and a signed step in lines. CPython 3.9, Objects/lnotab_notes.txt.
std::optional<std::int32_t> line_of_lnotab(std::string_view table, std::int64_t offset, std::int64_t line) {
    std::int64_t at = 0;
    for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
        at += static_cast<std::uint8_t>(table[i]);
        if (at > offset) break;
        line += static_cast<std::int8_t>(table[i + 1]);
    }
    return checked(line);
}

// Pairs of bytes: the length of a range in bytes of code, and its line relative to the previous range; -128 is a range
// without a line. CPython 3.10, Objects/lnotab_notes.txt.
std::optional<std::int32_t> line_of_ranges(std::string_view table, std::int64_t offset, std::int64_t line) {
    std::int64_t end = 0;
    for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
        auto delta = static_cast<std::int8_t>(table[i + 1]);
        end += static_cast<std::uint8_t>(table[i]);
        if (delta != -128) line += delta;
        if (end > offset) return delta != -128 ? checked(line) : std::nullopt;
    }
    return std::nullopt;
}

// Numbers of the location table: six bits per byte, lowest first; bit 6 is set if another byte follows.
class Cursor {
public:
    explicit Cursor(std::string_view table) : left_(table) {}
    bool done() const { return left_.empty(); }
    std::uint8_t byte() {
        if (left_.empty()) return 0;
        auto value = static_cast<std::uint8_t>(left_[0]);
        left_.remove_prefix(1);
        return value;
    }
    std::uint64_t number() {
        std::uint64_t value = 0;
        for (int shift = 0; shift < 60; shift += 6) {
            std::uint8_t next = byte();
            value |= std::uint64_t{next & 63u} << shift;
            if ((next & 64) == 0) break;
        }
        return value;
    }
    std::int64_t signed_number() {
        std::uint64_t value = number();
        auto size = static_cast<std::int64_t>(value >> 1);
        return (value & 1) != 0 ? -size : size;
    }

private:
    std::string_view left_;
};

// Entries: a head byte (bit 7 set; four bits of kind; the length in instructions, less one) and the data of that kind.
// CPython 3.11, Objects/locations.md.
std::optional<std::int32_t> line_of_locations(std::string_view table, std::int64_t index, std::int64_t line) {
    constexpr int kOneLine = 10, kNoColumns = 13, kLong = 14, kNoLocation = 15;
    std::int64_t end = 0;
    for (Cursor cursor(table); !cursor.done();) {
        std::uint8_t head = cursor.byte();
        if ((head & 128) == 0) return std::nullopt;
        int kind = (head >> 3) & 15;
        end += (head & 7) + 1;
        if (kind < kOneLine) {
            cursor.byte();
        } else if (kind < kNoColumns) {
            line += kind - kOneLine;
            cursor.byte();
            cursor.byte();
        } else if (kind != kNoLocation) {
            line += cursor.signed_number();
            if (kind == kLong) {
                cursor.number();
                cursor.number();
                cursor.number();
            }
        }
        if (line < -kMaxLines || line > kMaxLines) return std::nullopt;
        if (end > index) return kind == kNoLocation ? std::nullopt : checked(line);
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::int32_t> line_at(LineTable kind, std::string_view table, std::int64_t position,
                                    std::int32_t first_line) {
    if (position < 0) return checked(first_line);
    switch (kind) {
        case LineTable::lnotab: return line_of_lnotab(table, position, first_line);
        case LineTable::ranges: return line_of_ranges(table, 2 * position, first_line);
        case LineTable::locations: return line_of_locations(table, position, first_line);
    }
    return std::nullopt;
}

}  // namespace gpuprof::python
