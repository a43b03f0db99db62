// The attributes in the sections .nv.info (of the whole file) and .nv.info.NAME (of one kernel):
//
//     byte 0   format: 1 no value, 2 one byte, 3 two bytes, 4 a block of bytes
//     byte 1   which attribute
//     byte 2   the value (formats 2 and 3), or the size of the block that follows (16 bits)
//
// Example: 04 2f 08 00 | 1f 00 00 00 | 0a 00 00 00 says that the function of symbol 31 uses 10 registers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuprof::cubin {

enum class Attribute : std::uint8_t {
    max_threads = 0x05,     // x, y, z
    required_block = 0x10,  // x, y, z
    frame_size = 0x11,      // symbol, bytes
    min_stack_size = 0x12,  // symbol, bytes; with the stack of the functions it calls
    register_limit = 0x1b,  // two bytes
    register_count = 0x2f,  // symbol, count
    cluster = 0x3d,         // x, y, z
    barrier_count = 0x4c,   // one byte
    annotations = 0x55,     // pairs: kind (1: spills or refills a register), offset of an instruction
};

struct AttributeValue {
    Attribute attribute{};
    std::uint32_t small = 0;  // of formats 2 and 3
    std::string_view block;   // of format 4
};

class AttributeReader {
public:
    explicit AttributeReader(std::string_view section) : rest_(section) {}
    // Absent at the end, and from the first attribute that does not fit on.
    std::optional<AttributeValue> next();

private:
    std::string_view rest_;
};

}  // namespace gpuprof::cubin
