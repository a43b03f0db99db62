#include "io/cubin/elf.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/elf_symbols.h"

namespace gpuprof::cubin {
namespace {

constexpr std::uint64_t kHeaderBytes = 64, kSectionBytes = 64, kSymbolBytes = 24, kRelBytes = 16, kRelaBytes = 24;
constexpr std::uint32_t kSymbolTable = 2, kRela = 4, kNoBits = 8, kRel = 9;
// Symbols may share names, so names together can be longer than the file; hostile files make them far longer.
constexpr std::uint64_t kMaxNamesPerByte = 16;
// For sm_100 and later, the compiler stores a second set of sections and lets both share text and strings.
constexpr std::uint64_t kMaxSectionsPerByte = 4;

std::uint64_t number_at(std::string_view bytes, std::uint64_t offset, std::size_t size) {
    if (offset > bytes.size() || bytes.size() - offset < size) return 0;
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(bytes[offset + i]);
    return value;
}

bool fits(std::string_view bytes, std::uint64_t offset, std::uint64_t size) {
    return offset <= bytes.size() && size <= bytes.size() - offset;
}

Error broken(std::string_view what) { return {ExitCode::unreadable, fmt::format("broken ELF file: {}", what)}; }

}  // namespace

std::uint16_t u16_at(std::string_view bytes, std::uint64_t offset) {
    return static_cast<std::uint16_t>(number_at(bytes, offset, 2));
}
std::uint32_t u32_at(std::string_view bytes, std::uint64_t offset) {
    return static_cast<std::uint32_t>(number_at(bytes, offset, 4));
}
std::uint64_t u64_at(std::string_view bytes, std::uint64_t offset) { return number_at(bytes, offset, 8); }

Result<ElfFile> ElfFile::parse(std::string_view bytes) {
    if (bytes.size() < kHeaderBytes || !bytes.starts_with("\x7f"
                                                          "ELF"))
        return broken("no header");
    if (bytes[4] != 2 || bytes[5] != 1) return broken("not 64-bit little-endian");
    ElfFile file;
    file.abi_version = static_cast<std::uint8_t>(bytes[8]);
    file.relocatable = u16_at(bytes, 16) == 1;
    file.machine = u16_at(bytes, 18);
    file.flags = u32_at(bytes, 48);
    std::uint64_t offset = u64_at(bytes, 40), count = u16_at(bytes, 60);
    std::uint32_t names = u16_at(bytes, 62);
    if (offset == 0) return file;  // no sections
    if (u16_at(bytes, 58) != kSectionBytes || !fits(bytes, offset, kSectionBytes))
        return broken("section headers lie outside the file");
    if (count == 0) count = u64_at(bytes, offset + 32);       // more than 65,279: in the first section header
    if (names == 0xFFFF) names = u32_at(bytes, offset + 40);  // likewise
    if (count > (bytes.size() - offset) / kSectionBytes) return broken("section headers lie outside the file");
    if (Status read = file.read_sections(bytes, offset, count, names); !read.ok()) return read.error();
    if (Status read = file.read_symbols(); !read.ok()) return read.error();
    return file;
}

Status ElfFile::read_sections(std::string_view bytes, std::uint64_t offset, std::uint64_t count, std::uint32_t names) {
    std::uint64_t total = 0;
    sections.resize(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        std::uint64_t at = offset + i * kSectionBytes;
        ElfSection& section = sections[i];
        section.type = u32_at(bytes, at + 4);
        section.flags = u64_at(bytes, at + 8);
        section.size = u64_at(bytes, at + 32);
        section.link = u32_at(bytes, at + 40);
        section.info = u32_at(bytes, at + 44);
        if (section.type == kNoBits || section.type == 0) continue;
        std::uint64_t from = u64_at(bytes, at + 24);
        if (!fits(bytes, from, section.size)) return broken(fmt::format("section {} lies outside the file", i));
        section.bytes = bytes.substr(from, section.size);
        total += section.size;
        if (total > kMaxSectionsPerByte * bytes.size()) return broken("too many sections overlap");
    }
    if (names >= count) return {};
    std::uint64_t name_bytes = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        sections[i].name = elf_text(sections[names].bytes, u32_at(bytes, offset + i * kSectionBytes));
        name_bytes += sections[i].name.size();
        if (name_bytes > kMaxNamesPerByte * bytes.size()) return broken("names of sections overlap");
    }
    return {};
}

Status ElfFile::read_symbols() {
    auto table = std::find_if(sections.begin(), sections.end(),
                              [](const ElfSection& each) { return each.type == kSymbolTable; });
    if (table == sections.end()) return {};
    std::string_view names = table->link < sections.size() ? sections[table->link].bytes : std::string_view();
    std::uint64_t name_bytes = 0, name_limit = kMaxNamesPerByte * (names.size() + table->bytes.size());
    symbols.resize(table->bytes.size() / kSymbolBytes);
    for (std::size_t i = 0; i < symbols.size(); ++i) {
        std::uint64_t at = i * kSymbolBytes;
        ElfSymbol& symbol = symbols[i];
        symbol.type = static_cast<std::uint8_t>(table->bytes[at + 4]) & 0xF;
        symbol.other = static_cast<std::uint8_t>(table->bytes[at + 5]);
        symbol.section = u16_at(table->bytes, at + 6);
        symbol.value = u64_at(table->bytes, at + 8);
        symbol.size = u64_at(table->bytes, at + 16);
        if (!symbol.is_function()) continue;
        symbol.name = elf_text(names, u32_at(table->bytes, at));
        name_bytes += symbol.name.size();
        if (name_bytes > name_limit) return broken("names of symbols overlap");
    }
    // Indices above 65,279 are in a table of their own.
    auto indices =
        std::find_if(sections.begin(), sections.end(), [](const ElfSection& each) { return each.type == 18; });
    for (std::size_t i = 0; i < symbols.size(); ++i)
        if (symbols[i].section == 0xFFFF)
            symbols[i].section = indices == sections.end() ? 0 : u32_at(indices->bytes, i * 4);
    return {};
}

const ElfSection* ElfFile::section(std::string_view name) const {
    auto found =
        std::find_if(sections.begin(), sections.end(), [&](const ElfSection& each) { return each.name == name; });
    return found == sections.end() ? nullptr : &*found;
}

std::vector<ElfRelocation> ElfFile::relocations(std::string_view of) const {
    std::vector<ElfRelocation> result;
    for (const ElfSection& section : sections) {
        bool rela = section.type == kRela;
        if (!rela && section.type != kRel) continue;
        if (section.info >= sections.size() || sections[section.info].name != of) continue;
        std::uint64_t step = rela ? kRelaBytes : kRelBytes;
        for (std::uint64_t at = 0; at + step <= section.bytes.size(); at += step) {
            ElfRelocation relocation;
            relocation.offset = u64_at(section.bytes, at);
            relocation.symbol = u32_at(section.bytes, at + 12);
            relocation.has_addend = rela;
            if (rela) relocation.addend = static_cast<std::int64_t>(u64_at(section.bytes, at + 16));
            result.push_back(relocation);
        }
    }
    return result;
}

}  // namespace gpuprof::cubin
