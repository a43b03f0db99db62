// A 64-bit little-endian ELF file in memory: sections, symbols, relocations. For cubins, and for telling what else a
// file is. Reads only; every view points into the given bytes, which must outlive the file.
//
// All sections together, and all names, are at most some times as long as the file, so that its size bounds the work of
// any reader of sections. Source of the layout: the System V ABI, chapters 4 and 5.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace gpuprof::cubin {

struct ElfSection {
    std::string_view name;
    std::uint32_t type = 0;
    std::uint64_t flags = 0;
    std::uint64_t size = 0;  // also of sections without bytes in the file (.bss, .nv.shared)
    std::string_view bytes;
    std::uint32_t link = 0, info = 0;

    bool executable() const { return (flags & 4) != 0; }
};

struct ElfSymbol {
    std::string_view name;  // of functions only; reading all names would cost more than they are worth
    std::uint8_t type = 0, other = 0;
    std::uint32_t section = 0;  // 0: undefined
    std::uint64_t value = 0, size = 0;

    bool is_function() const { return type == 2; }
};

struct ElfRelocation {
    std::uint64_t offset = 0;
    std::uint32_t symbol = 0;
    std::int64_t addend = 0;
    bool has_addend = false;  // false: the addend is the number at `offset`
};

class ElfFile {
public:
    // Fails for bytes that are not such a file, or that a reader cannot trust.
    static Result<ElfFile> parse(std::string_view bytes);

    std::uint8_t abi_version = 0;
    std::uint16_t machine = 0;
    bool relocatable = false;  // input of a linker
    std::uint32_t flags = 0;
    std::vector<ElfSection> sections;
    std::vector<ElfSymbol> symbols;

    // The first section of this name, or null.
    const ElfSection* section(std::string_view name) const;
    // The relocations of a section, from .rel and .rela sections.
    std::vector<ElfRelocation> relocations(std::string_view section) const;

private:
    Status read_sections(std::string_view bytes, std::uint64_t offset, std::uint64_t count, std::uint32_t names);
    Status read_symbols();
};

// Little-endian numbers; zero past the end.
std::uint16_t u16_at(std::string_view bytes, std::uint64_t offset);
std::uint32_t u32_at(std::string_view bytes, std::uint64_t offset);
std::uint64_t u64_at(std::string_view bytes, std::uint64_t offset);

}  // namespace gpuprof::cubin
