// Addresses of symbols in a 64-bit little-endian ELF file (a program or shared library), by its symbol tables (.symtab,
// .dynsym). The file may be anything: every offset is checked. Spec: System V ABI, chapters 4 and 5.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace gpuprof::python {

// The value of each name's symbol, 0 where it is not defined: an address within the file's own image.
std::vector<std::uint64_t> symbol_values(std::string_view file, std::span<const std::string_view> names);

// The address in the file's image that its byte at `offset` is loaded to; ~0 when none is loaded from there.
std::uint64_t image_address(std::string_view file, std::uint64_t offset);

}  // namespace gpuprof::python
