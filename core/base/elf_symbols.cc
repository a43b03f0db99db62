#include "core/base/elf_symbols.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>

namespace gpuprof::inline base {
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

// Calls visit(symbol, name) for each symbol of the file's tables that is defined and has a name. Tables that overlap end when as many
// symbols were read as the file has room for.
template <class Visit>
void each_symbol(std::string_view file, Visit&& visit) {
    std::uint64_t left = file.size() / sizeof(Elf64_Sym);
    std::optional<Elf64_Ehdr> header = header_of(file);
    if (!header || header->e_shentsize != sizeof(Elf64_Shdr)) return;
    auto section = [&](std::uint64_t index) -> std::optional<Elf64_Shdr> {
        if (index >= header->e_shnum || header->e_shoff > file.size()) return std::nullopt;
        return at<Elf64_Shdr>(file, header->e_shoff + index * sizeof(Elf64_Shdr));
    };
    for (std::uint64_t index = 0; index < header->e_shnum; ++index) {
        std::optional<Elf64_Shdr> table = section(index);
        if (!table || (table->sh_type != SHT_DYNSYM && table->sh_type != SHT_SYMTAB)) continue;
        std::optional<Elf64_Shdr> names = section(table->sh_link);
        if (!names) continue;
        std::string_view symbols = part(file, table->sh_offset, table->sh_size),
                         texts = part(file, names->sh_offset, names->sh_size);
        for (std::uint64_t offset = 0; left > 0 && offset + sizeof(Elf64_Sym) <= symbols.size();
             offset += sizeof(Elf64_Sym), --left) {
            Elf64_Sym symbol;
            std::memcpy(&symbol, symbols.data() + offset, sizeof symbol);
            std::string_view name = symbol.st_shndx == SHN_UNDEF ? std::string_view() : elf_text(texts, symbol.st_name);
            if (!name.empty()) visit(symbol, name);
        }
    }
}

}  // namespace

std::string_view elf_text(std::string_view bytes, std::uint64_t offset) {
    constexpr std::uint64_t kMaxText = 64 << 10;
    if (offset >= bytes.size()) return {};
    std::string_view rest = bytes.substr(offset, kMaxText);
    std::size_t end = rest.find('\0');
    return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

std::vector<std::uint64_t> symbol_values(std::string_view file, std::span<const std::string_view> names) {
    std::vector<std::uint64_t> values(names.size(), 0);
    each_symbol(file, [&](const Elf64_Sym& symbol, std::string_view name) {
        for (std::size_t i = 0; i < names.size(); ++i)
            if (values[i] == 0 && name == names[i]) values[i] = symbol.st_value;
    });
    return values;
}

ElfFunctions::ElfFunctions(std::string_view file) {
    each_symbol(file, [&](const Elf64_Sym& symbol, std::string_view name) {
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_size > 0)
            functions_.push_back({symbol.st_value, symbol.st_value + symbol.st_size, name});
    });
    // Of several names of one function the first by the alphabet, in every run.
    std::sort(functions_.begin(), functions_.end(), [](const Function& a, const Function& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.name < b.name;
    });
}

std::string_view ElfFunctions::at(std::uint64_t address) const {
    auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                  [](std::uint64_t value, const Function& function) { return value < function.begin; });
    if (after == functions_.begin()) return {};
    auto found = std::lower_bound(functions_.begin(), after, std::prev(after)->begin,
                                  [](const Function& function, std::uint64_t value) { return function.begin < value; });
    return address < found->end ? found->name : std::string_view();
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

}  // namespace gpuprof::base
