// Source lines of instructions: the section .debug_line of a cubin, DWARF versions 2 to 5.
//
// A cubin compiled with -lineinfo has line programs but no .debug_info, so each program is found by its own header. Its
// addresses are filled in by relocations, which name the function. An instruction belongs to the last row at or below
// its address. That row is the innermost one: code inlined from a header is attributed to the header.
// Source: the DWARF standard, version 5, section 6.2.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "io/cubin/cubin.h"
#include "io/cubin/line_program.h"

namespace gpuprof::cubin {

struct SourceLine {
    std::string file;  // with its folder, if the table names one
    std::uint32_t line = 0;
    bool operator==(const SourceLine&) const = default;
};

// Where an instruction comes from: innermost, and outside the headers of the CUDA toolkit and Triton's own library.
struct SourcePlace {
    SourceLine innermost;
    std::optional<SourceLine> user;
    bool operator==(const SourcePlace&) const = default;
};

// Instructions of one place, from `offset` bytes after the start of the function on.
struct SourceRange {
    std::uint64_t offset = 0, bytes = 0;
    SourcePlace place;
};

class LineTable {
public:
    // Empty without .debug_line. Fails if the section cannot be read to its end. `cubin` and its bytes must outlive the
    // table.
    static Result<LineTable> read(const Cubin& cubin);

    // The place of the instruction `offset` bytes after the start of a function; absent if the table says nothing of it.
    std::optional<SourcePlace> place(const Function& function, std::uint64_t offset) const;
    // Whether any of the function's instructions has a source line.
    bool covers(const Function& function) const;
    // The whole function, in order of offset; instructions without a place are omitted.
    std::vector<SourceRange> ranges(const Function& function) const;

private:
    struct LineRow {
        std::uint64_t address = 0;  // in its section
        std::uint32_t file = 0, line = 0;
        bool end = false;        // the first address after a sequence of rows
        std::uint32_t user = 0;  // the last row up to this one outside the toolkit's headers
    };
    struct File {
        LineFile path;
        bool toolkit = false;
    };

    void add(const LineProgram& program);
    void finish();
    bool known(const LineRow& row) const;
    SourceLine line_of(const LineRow& row) const;

    std::vector<File> files_;
    std::unordered_map<std::uint32_t, std::vector<LineRow>> rows_;  // by section, in order of address
};

}  // namespace gpuprof::cubin
