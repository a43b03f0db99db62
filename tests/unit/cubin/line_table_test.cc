// Line tables: every instruction of the fixtures has the line that CUPTI gives it (tests/fixtures/cubin/lines.csv.zst), and line programs
// of all DWARF versions, written by hand, are read.
#include "io/cubin/line_table.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "io/cubin/line_program.h"
#include "tests/unit/importers/read_text.h"

namespace gpuprof::cubin {
namespace {

struct LinesRead {
    std::string bytes;
    Cubin cubin;
    LineTable lines;
};

LinesRead read_lines(const std::string& name) {
    LinesRead result{test::fixture("cubin/" + name + ".cubin.gz"), {}, {}};
    Result<Cubin> cubin = read_cubin(result.bytes);
    EXPECT_TRUE(cubin.ok());
    if (!cubin.ok()) return result;
    result.cubin = std::move(cubin).value();
    Result<LineTable> lines = LineTable::read(result.cubin);
    EXPECT_TRUE(lines.ok());
    if (lines.ok()) result.lines = std::move(lines).value();
    return result;
}

std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
    return cells;
}

TEST(LineTable, EqualsCuptiForEveryInstruction) {
    std::map<std::string, LinesRead> files;
    std::istringstream expected(test::fixture("cubin/lines.csv.zst"));
    std::string line;
    std::getline(expected, line);  // the header
    int compared = 0;
    while (std::getline(expected, line)) {
        std::vector<std::string> cells = split(line);
        ASSERT_EQ(cells.size(), 6u) << line;
        auto found = files.find(cells[0]);
        if (found == files.end()) found = files.emplace(cells[0], read_lines(cells[0])).first;
        const Function* function = found->second.cubin.function(cells[1]);
        ASSERT_NE(function, nullptr) << line;
        for (std::uint64_t offset = std::stoul(cells[2]); offset <= std::stoul(cells[3]); offset += 16) {
            std::optional<SourcePlace> place = found->second.lines.place(*function, offset);
            ASSERT_TRUE(place) << line;
            EXPECT_EQ(place->innermost, (SourceLine{cells[5], static_cast<std::uint32_t>(std::stoul(cells[4]))}))
                << line;
            ++compared;
        }
    }
    EXPECT_EQ(compared, 3392);
}

TEST(LineTable, GivesTheLineOutsideTheToolkitToo) {
    LinesRead cuda = read_lines("kernels.sm_90a");
    const Function* sum = cuda.cubin.function("_Z9block_sumILi256EEvPiPKi");
    ASSERT_NE(sum, nullptr);
    std::optional<SourcePlace> atomic = cuda.lines.place(*sum, 0x400);
    ASSERT_TRUE(atomic);
    EXPECT_EQ(atomic->innermost, (SourceLine{"/usr/local/cuda/include/device_atomic_functions.hpp", 107}));
    EXPECT_EQ(atomic->user, (SourceLine{"/opt/example/kernels.cu", 33}));

    LinesRead triton = read_lines("add.sm_90a");
    const Function* add = triton.cubin.function("add_kernel");
    ASSERT_NE(add, nullptr);
    std::optional<SourcePlace> library = triton.lines.place(*add, 0x100);
    ASSERT_TRUE(library);
    EXPECT_EQ(library->innermost.line, 40u);
    EXPECT_EQ(library->user, (SourceLine{"/opt/example/add.py", 16}));
}

TEST(LineTable, CoversFunctionsAndNothingOutsideThem) {
    LinesRead file = read_lines("kernels.sm_80");
    for (const Function& function : file.cubin.functions) {
        SCOPED_TRACE(function.name);
        EXPECT_FALSE(file.lines.place(function, function.code_bytes));
        bool math = function.name.starts_with("$__internal");  // the compiler's own division has no source
        EXPECT_EQ(file.lines.covers(function), !math);
        std::uint64_t end = 0;
        for (const SourceRange& range : file.lines.ranges(function)) {
            EXPECT_GE(range.offset, end);
            end = range.offset + range.bytes;
            EXPECT_EQ(file.lines.place(function, range.offset), range.place);
            EXPECT_EQ(file.lines.place(function, end - 1), range.place);
        }
        EXPECT_LE(end, function.code_bytes);
    }
}

std::string number(std::uint64_t value, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> 8 * i));
    return out;
}

// A unit: `tables` and opcodes that set address 0 of section 3, file 1, line 7 and end 32 bytes later.
std::string unit(int version, const std::string& tables, bool wide = false) {
    std::string constants = "\x01";                   // minimum instruction
    if (version >= 4) constants += "\x01";            // operations per instruction
    constants += std::string("\x01\xfb\x0e\x0d", 4);  // is_stmt, line base -5, range 14, 13 opcodes
    constants += std::string("\0\1\1\1\1\0\0\0\1\0\0\1", 12);
    std::string opcodes = std::string("\0\x09\x02", 3) + number(0, 8);  // DW_LNE_set_address
    opcodes += std::string("\0\x03\x90\x01\x02", 5);                    // the vendor's opcode, skipped
    opcodes += "\x03\x06";                                              // DW_LNS_advance_line 6
    opcodes += "\x01";                                                  // DW_LNS_copy
    opcodes += "\x02\x20";                                              // DW_LNS_advance_pc 32
    opcodes += std::string("\0\x01\x01", 3);                            // DW_LNE_end_sequence
    int size = wide ? 8 : 4;
    std::string header = number(version, 2);
    if (version >= 5) header += std::string("\x08\0", 2);
    header += number(constants.size() + tables.size(), size) + constants + tables;
    std::string body = header + opcodes;
    return (wide ? number(0xFFFFFFFF, 4) : "") + number(body.size(), size) + body;
}

LineSections sections_of(std::string_view lines) {
    LineSections sections;
    sections.lines = lines;
    sections.line_strings = std::string_view("/src\0kernel.cu\0", 15);
    std::size_t opcode = lines.find(std::string_view("\0\x09\x02", 3));
    sections.addresses[opcode + 3] = {3, 0x100};
    return sections;
}

void expect_one_row(const std::string& bytes) {
    LineSections sections = sections_of(bytes);
    Result<LineProgram> program = read_line_program(sections, 0);
    ASSERT_TRUE(program.ok()) << program.error().message;
    EXPECT_EQ(program->next, bytes.size());
    ASSERT_EQ(program->rows.size(), 2u);
    const LineProgram::Row &row = program->rows[0], &end = program->rows[1];
    EXPECT_EQ(row.section, 3u);
    EXPECT_EQ(row.address, 0x100u);
    EXPECT_EQ(row.line, 7u);
    EXPECT_FALSE(row.end);
    EXPECT_TRUE(end.end);
    EXPECT_EQ(end.address, 0x120u);
    ASSERT_LT(row.file, program->files.size());
    EXPECT_EQ(program->files[row.file].folder, "/src");
    EXPECT_EQ(program->files[row.file].name, "kernel.cu");
}

TEST(LineProgram, ReadsEveryVersion) {
    const std::string old_tables("/src\0\0kernel.cu\0\x01\0\0\0", 20);
    for (int version : {2, 3, 4}) {
        SCOPED_TRACE(version);
        expect_one_row(unit(version, old_tables));
        expect_one_row(unit(version, old_tables, true));
    }
    // One folder as DW_FORM_line_strp; two files with an inline name, a folder number and a checksum.
    const std::string folders = std::string("\x01\x01\x1f\x01", 4) + number(0, 4);
    const std::string file = std::string("kernel.cu\0\0", 11) + std::string(16, 'm');
    const std::string files = std::string("\x03\x01\x08\x02\x0b\x05\x1e\x02", 8) + file + file;
    expect_one_row(unit(5, folders + files));
    const std::string wide_folders = std::string("\x01\x01\x1f\x01", 4) + number(0, 8);
    expect_one_row(unit(5, wide_folders + files, true));
}

TEST(LineProgram, RefusesWhatItCannotRead) {
    const std::string tables("/src\0\0kernel.cu\0\x01\0\0\0", 20);
    for (const std::string& bytes : {unit(6, tables), unit(1, tables), std::string("\xff\xff\xff\x7f", 4),
                                     std::string(4, '\0'), unit(5, std::string("\0\xff\xff\xff\xff\x0f", 6))}) {
        LineSections sections = sections_of(bytes);
        Result<LineProgram> program = read_line_program(sections, 0);
        ASSERT_FALSE(program.ok());
        EXPECT_EQ(program.error().message, "broken line table at byte 0 of .debug_line");
    }
}

}  // namespace
}  // namespace gpuprof::cubin
