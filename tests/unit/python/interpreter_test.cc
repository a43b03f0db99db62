// Finding CPython: lines of maps, names of files, and symbols of an ELF file, sound and broken.
#include "collect/python/interpreter.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>

#include "core/base/elf_symbols.h"
#include "core/base/files/path_search.h"

namespace gpuprof::python {
namespace {

bool has_symbol_table(const std::string& file) {
    Elf64_Ehdr head;
    std::memcpy(&head, file.data(), sizeof head);
    for (std::size_t i = 0; i < head.e_shnum; ++i) {
        Elf64_Shdr section;
        std::memcpy(&section, file.data() + head.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type == SHT_SYMTAB) return true;
    }
    return false;
}

TEST(PythonSearch, ReadsMappings) {
    auto mapping = parse_mapping("7f00a000-7f00b000 r--p 00012000 fe:00 123    /usr/lib/a b (deleted)");
    ASSERT_TRUE(mapping);
    EXPECT_EQ(mapping->begin, 0x7f00a000u);
    EXPECT_EQ(mapping->offset, 0x12000u);
    EXPECT_EQ(mapping->path, "/usr/lib/a b (deleted)");
    EXPECT_FALSE(parse_mapping("7f00a000-7f00b000 rw-p 00000000 00:00 0 "));
    for (std::string_view line : {"", "/", "zz /x", "1 /", "1-2 /x", "1-2 r /x"})
        EXPECT_FALSE(parse_mapping(line)) << line;
}

TEST(PythonSearch, VersionsOfNames) {
    EXPECT_EQ(minor_in_name("/usr/lib/libpython3.11.so.1.0"), 11u);
    EXPECT_EQ(minor_in_name("/python3.9/bin/python3.10"), 10u);
    EXPECT_EQ(minor_in_name("/python3.9/bin/python3"), 0u);
    EXPECT_EQ(minor_in_name("python3.x"), 0u);
    EXPECT_EQ(minor_in_name(""), 0u);
}

TEST(PythonSearch, SymbolsOfThisProgram) {
    std::ifstream stream(this_executable(), std::ios::binary);
    std::string file{std::istreambuf_iterator<char>(stream), {}};
    ASSERT_GT(file.size(), 64u) << this_executable();
    std::array<std::string_view, 3> names = {"main", "no_such_symbol_here", "mai"};
    std::vector<std::uint64_t> values = symbol_values(file, names);
    EXPECT_EQ(values[0] != 0u, has_symbol_table(file));  // portable builds are stripped
    EXPECT_EQ(values[1], 0u);
    EXPECT_EQ(values[2], 0u);
    EXPECT_NE(image_address(file, 0), ~std::uint64_t{0});
    EXPECT_EQ(ElfFunctions(file).at(values[0]), has_symbol_table(file) ? "main" : "");
    EXPECT_EQ(ElfFunctions(file).at(0), "");
    EXPECT_EQ(ElfFunctions(file).at(~std::uint64_t{0}), "");
    // Cut and broken heads: any answer, but an answer.
    for (std::size_t size = 0; size < 64; ++size) symbol_values(std::string_view(file).substr(0, size), names);
    for (std::size_t at = 16; at < 64; ++at) {
        char before = file[at];
        file[at] = static_cast<char>(0xFF);
        symbol_values(file, names);
        image_address(file, 1 << 20);
        ElfFunctions(file).at(values[0]);
        file[at] = before;
    }
}

}  // namespace
}  // namespace gpuprof::python
