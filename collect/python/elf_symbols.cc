#include "collect/python/elf_symbols.h"

#include <elf.h>

#include <cstring>
#include <optional>

namespace gpuprof::python {
namespace {

template <class T>
std::optional<T> at(std::string_view file, std::uint64_t offset) {
    if (offset > file.size() || file.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, file.data() + offset, sizeof value);
    return value;
}

std::string_view part(std::string_view file, std::uint64_t offset, std::uint64_t size) {
    if (offset > file.size() || size > file.size() - offset) return {};
    return file.substr(offset, size);
}

std::optional<Elf64_Ehdr> header_of(std::string_view file) {
    std::optional<Elf64_Ehdr> header = at<Elf64_Ehdr>(file, 0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_ident[EI_DATA] != ELFDATA2LSB)
        return std::nullopt;
    return header;
}

void look_up(std::string_view symbols, std::string_view texts, std::span<const std::string_view> names,
             std::vector<std::uint64_t>& values) {
    for (std::uint64_t offset = 0; offset + sizeof(Elf64_Sym) <= symbols.size(); offset += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        std::memcpy(&symbol, symbols.data() + offset, sizeof symbol);
        if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= texts.size()) continue;
        std::string_view rest = texts.substr(symbol.st_name);
        for (std::size_t i = 0; i < names.size(); ++i)
            if (values[i] == 0 && rest.size() > names[i].size() && rest[names[i].size()] == '\0' &&
                rest.substr(0, names[i].size()) == names[i])
                values[i] = symbol.st_value;
    }
}

}  // namespace

std::vector<std::uint64_t> symbol_values(std::string_view file, std::span<const std::string_view> names) {
    std::vector<std::uint64_t> values(names.size(), 0);
    std::optional<Elf64_Ehdr> header = header_of(file);
    if (!header || header->e_shentsize != sizeof(Elf64_Shdr)) return values;
    auto section = [&](std::uint64_t index) -> std::optional<Elf64_Shdr> {
        if (index >= header->e_shnum || header->e_shoff > file.size()) return std::nullopt;
        return at<Elf64_Shdr>(file, header->e_shoff + index * sizeof(Elf64_Shdr));
    };
    for (std::uint64_t index = 0; index < header->e_shnum; ++index) {
        std::optional<Elf64_Shdr> symbols = section(index);
        if (!symbols || (symbols->sh_type != SHT_DYNSYM && symbols->sh_type != SHT_SYMTAB)) continue;
        std::optional<Elf64_Shdr> texts = section(symbols->sh_link);
        if (!texts) continue;
        look_up(part(file, symbols->sh_offset, symbols->sh_size), part(file, texts->sh_offset, texts->sh_size), names,
                values);
    }
    return values;
}

std::uint64_t image_address(std::string_view file, std::uint64_t offset) {
    std::optional<Elf64_Ehdr> header = header_of(file);
    if (!header || header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phoff > file.size()) return ~std::uint64_t{0};
    for (std::uint64_t index = 0; index < header->e_phnum; ++index) {
        std::optional<Elf64_Phdr> segment = at<Elf64_Phdr>(file, header->e_phoff + index * sizeof(Elf64_Phdr));
        if (!segment) break;
        // A mapping begins with the page that contains the segment's first byte.
        std::uint64_t first = segment->p_offset & ~std::uint64_t{4095};
        if (segment->p_type == PT_LOAD && offset >= first && offset - first < segment->p_filesz + 4096)
            return segment->p_vaddr - segment->p_offset + offset;
    }
    return ~std::uint64_t{0};
}

}  // namespace gpuprof::python
