// A cubin: the functions of a CUDA program, compiled for one architecture, and the resources that each of them needs.
//
// Sources: the ELF ABI; LLVM's BinaryFormat/ELF.h for the flags; for the attributes in .nv.info, what `cuobjdump -elf` and
// `cuobjdump -res-usage` print of files compiled for 7.5 to 12.0. Attributes that the program does not need are skipped.
// Fat binaries and PTX are recognised, so that the error can say what to do, but not read.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "io/cubin/elf.h"

namespace gpuprof::cubin {

using Dimensions = std::array<std::uint32_t, 3>;  // x, y, z

// What one function needs; absent = the file does not say.
struct Function {
    std::string_view name;                            // mangled, as in the file
    bool kernel = false;                              // false: kernels call it
    std::uint32_t section = 0;                        // of its code
    std::uint64_t start = 0, code_bytes = 0;          // in that section
    std::optional<std::int64_t> registers;            // per thread
    std::optional<std::int64_t> register_limit;       // per thread, as given to the compiler; 255 without a limit
    std::optional<std::int64_t> static_shared_bytes;  // per block, without the driver's reserve
    std::optional<std::int64_t> stack_bytes;          // per thread: arrays, spilled registers, calls
    std::optional<std::int64_t> spill_instructions;   // instructions that spill or refill registers
    std::optional<std::int64_t> barriers;             // per block
    std::optional<Dimensions> max_block;              // __launch_bounds__: the largest block
    std::optional<Dimensions> required_block;         // .reqntid: the only block size
    std::optional<Dimensions> cluster;                // __cluster_dims__, in blocks
};

struct Cubin {
    ElfFile elf;
    int architecture = 0;                // 90 for sm_90
    bool architecture_specific = false;  // sm_90a: runs on no other architecture
    std::vector<Function> functions;     // in the order of their symbols

    std::string architecture_name() const;
    int cc_major() const { return architecture / 10; }
    int cc_minor() const { return architecture % 10; }
    // The function of this name, or null.
    const Function* function(std::string_view name) const;
};

// `bytes` must outlive the result. Before linking (elf.relocatable) registers and shared memory are not final.
Result<Cubin> read_cubin(std::string_view bytes);

// What bytes that are not a cubin are and what to do with them, as in "is PTX; assemble it with ..."; `file` is how to
// write the file's name in a command.
std::string what_instead(std::string_view bytes, std::string_view file);

}  // namespace gpuprof::cubin
