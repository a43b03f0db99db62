// Addresses of symbols in a 64-bit little-endian ELF file (a program or shared library), from its symbol tables
// (.symtab, .dynsym). The file is untrusted: every offset is checked, and what lies outside is skipped. io/cubin/elf.h, which refuses
// such a file as a whole, shares only the texts. Spec: System V ABI, chapters 4 and 5.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace gpuprof::inline base {

// The functions of a file, which name the addresses in them.
class ElfFunctions {
public:
    // The bytes must outlive this.
    explicit ElfFunctions(std::string_view file);
    // The name of the function that contains an address of the file's own image, as the compiler wrote it; "" if there is none.
    std::string_view at(std::uint64_t address) const;

private:
    struct Function {
        std::uint64_t begin, end;
        std::string_view name;
    };
    std::vector<Function> functions_;  // by begin
};

// The text up to the next NUL; empty if none follows within 64 KiB. For every reader of such files, also of cubins.
std::string_view elf_text(std::string_view bytes, std::uint64_t offset);

// The value of each name's symbol, an address within the file's own image; 0 if undefined.
std::vector<std::uint64_t> symbol_values(std::string_view file, std::span<const std::string_view> names);

// The address in the file's image to which the byte at `offset` is loaded; ~0 if it is not loaded.
std::uint64_t image_address(std::string_view file, std::uint64_t offset);

}  // namespace gpuprof::base
