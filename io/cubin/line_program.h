// One line program of .debug_line: its header, and its opcodes run to the end.
//
//     unit_length | version | header_length | constants | opcode lengths | folders | files | opcodes ...
//
// Unknown opcodes are skipped by their declared length; the vendor's own one (0x90, for inlined calls) is such an opcode.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"

namespace gpuprof::cubin {

// The sections that programs refer to, and where relocated addresses in .debug_line point to.
struct LineSections {
    struct Target {
        std::uint32_t section = 0;  // 0: none
        std::uint64_t address = 0;
    };
    std::string_view lines, line_strings, strings;
    std::unordered_map<std::uint64_t, Target> addresses;  // by offset in `lines`
};

struct LineFile {
    std::string_view folder, name;
};

struct LineProgram {
    struct Row {
        std::uint32_t section = 0;
        std::uint64_t address = 0;
        std::uint64_t file = 0;  // index into files; may lie outside
        std::uint32_t line = 0;
        bool end = false;  // the first address after the rows before it
    };
    std::vector<LineFile> files;
    std::vector<Row> rows;
    std::uint64_t next = 0;  // offset of the next program
};

Result<LineProgram> read_line_program(const LineSections& sections, std::uint64_t offset);

}  // namespace gpuprof::cubin
