#include "io/cubin/cubin.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "io/cubin/attributes.h"

namespace gpuprof::cubin {
namespace {

constexpr std::uint16_t kCudaMachine = 190;
constexpr std::uint8_t kEntry = 0x10;  // in a symbol's st_other: a kernel
constexpr std::string_view kInfo = ".nv.info", kKernelInfo = ".nv.info.", kShared = ".nv.shared.";
// Since 9.0, the shared memory of a kernel includes what the driver reserves in each block.
constexpr int kFirstWithReserve = 90;
constexpr std::uint64_t kReservedSharedBytes = 1024;

// Since ABI version 8, the architecture is in the second byte of the flags.
void read_architecture(Cubin& cubin) {
    const ElfFile& elf = cubin.elf;
    bool moved = elf.abi_version >= 8;
    cubin.architecture = static_cast<int>(moved ? elf.flags >> 8 & 0xFF : elf.flags & 0xFF);
    cubin.architecture_specific = (elf.flags & (moved ? 0x8u : 0x800u)) != 0;
    // CUDA 13 writes it here instead, in the layout of .nv.info.
    const ElfSection* compatibility = elf.section(".nv.compat");
    if (compatibility == nullptr) return;
    AttributeReader reader(compatibility->bytes);
    while (std::optional<AttributeValue> value = reader.next())
        if (static_cast<std::uint8_t>(value->attribute) == 0x09) cubin.architecture_specific |= value->small == 1;
}

void read_functions(Cubin& cubin) {
    for (const ElfSymbol& symbol : cubin.elf.symbols) {
        if (!symbol.is_function() || symbol.section >= cubin.elf.sections.size() || symbol.name.empty()) continue;
        const ElfSection& code = cubin.elf.sections[symbol.section];
        if (!code.executable() || symbol.value > code.bytes.size()) continue;
        Function function;
        function.name = symbol.name;
        function.kernel = (symbol.other & kEntry) != 0;
        function.section = symbol.section;
        function.start = symbol.value;
        function.code_bytes = std::min<std::uint64_t>(symbol.size, code.bytes.size() - symbol.value);
        cubin.functions.push_back(function);
    }
}

// Functions by symbol, and kernels by the section of their code.
struct Index {
    std::unordered_map<std::uint32_t, Function*> by_symbol, by_section;

    explicit Index(Cubin& cubin) {
        std::unordered_map<std::string_view, Function*> by_name;
        for (Function& function : cubin.functions) {
            by_name.try_emplace(function.name, &function);
            if (function.kernel) by_section.try_emplace(function.section, &function);
        }
        for (std::size_t i = 0; i < cubin.elf.symbols.size(); ++i) {
            auto found = by_name.find(cubin.elf.symbols[i].name);
            if (cubin.elf.symbols[i].is_function() && found != by_name.end())
                by_symbol.try_emplace(static_cast<std::uint32_t>(i), found->second);
        }
    }
    static Function* find(const std::unordered_map<std::uint32_t, Function*>& map, std::uint32_t key) {
        auto found = map.find(key);
        return found == map.end() ? nullptr : found->second;
    }
};

// .nv.info: blocks of a symbol and a number.
void read_file_attributes(std::string_view section, const Index& index) {
    constexpr std::uint32_t kUnknownSize = 0xFFFFFFFF;  // of a stack, with recursion
    AttributeReader reader(section);
    while (std::optional<AttributeValue> value = reader.next()) {
        if (value->block.size() < 8) continue;
        Function* function = Index::find(index.by_symbol, u32_at(value->block, 0));
        std::uint32_t number = u32_at(value->block, 4);
        if (function == nullptr) continue;
        if (value->attribute == Attribute::register_count) function->registers = number;
        if (number == kUnknownSize) continue;
        if (value->attribute == Attribute::frame_size && !function->stack_bytes) function->stack_bytes = number;
        if (value->attribute == Attribute::min_stack_size) function->stack_bytes = number;
    }
}

std::optional<Dimensions> dimensions(std::string_view block) {
    if (block.size() < 12) return std::nullopt;
    return Dimensions{u32_at(block, 0), u32_at(block, 4), u32_at(block, 8)};
}

// How many of the annotated instructions move registers to or from the stack; absent if a kind is unknown.
std::optional<std::int64_t> spills(std::string_view block) {
    constexpr std::uint32_t kSpillOrRefill = 1;
    for (std::size_t at = 0; at < block.size(); at += 8)
        if (u32_at(block, at) != kSpillOrRefill || at + 8 > block.size()) return std::nullopt;
    return static_cast<std::int64_t>(block.size() / 8);
}

void read_kernel_attributes(std::string_view section, Function& kernel) {
    AttributeReader reader(section);
    if (!section.empty()) kernel.barriers = 0;  // omitted if there are none
    while (std::optional<AttributeValue> value = reader.next()) {
        switch (value->attribute) {
            case Attribute::max_threads: kernel.max_block = dimensions(value->block); break;
            case Attribute::required_block: kernel.required_block = dimensions(value->block); break;
            case Attribute::cluster: kernel.cluster = dimensions(value->block); break;
            case Attribute::register_limit: kernel.register_limit = value->small; break;
            case Attribute::barrier_count: kernel.barriers = value->small; break;
            case Attribute::annotations: kernel.spill_instructions = spills(value->block); break;
            default: break;
        }
    }
}

void read_shared(const ElfSection& section, int architecture, Function& kernel) {
    std::uint64_t reserve = architecture >= kFirstWithReserve ? kReservedSharedBytes : 0;
    if (section.size >= reserve && section.size - reserve <= 0xFFFFFFFF)
        kernel.static_shared_bytes = static_cast<std::int64_t>(section.size - reserve);
    else
        kernel.static_shared_bytes.reset();
}

void read_resources(Cubin& cubin) {
    Index index(cubin);
    for (Function& function : cubin.functions)
        if (function.kernel) function.static_shared_bytes = 0;  // kernels without any have no such section
    for (const ElfSection& section : cubin.elf.sections) {
        if (section.name == kInfo) read_file_attributes(section.bytes, index);
        Function* kernel = Index::find(index.by_section, section.info);
        if (kernel == nullptr) continue;
        if (section.name.starts_with(kKernelInfo)) read_kernel_attributes(section.bytes, *kernel);
        if (section.name.starts_with(kShared)) read_shared(section, cubin.architecture, *kernel);
    }
    for (Function& function : cubin.functions)
        if (function.stack_bytes == 0) function.spill_instructions = 0;  // no stack, so nothing is spilled to it
}

}  // namespace

std::string Cubin::architecture_name() const {
    return fmt::format("sm_{}{}", architecture, architecture_specific ? "a" : "");
}

const Function* Cubin::function(std::string_view name) const {
    auto found =
        std::find_if(functions.begin(), functions.end(), [&](const Function& each) { return each.name == name; });
    return found == functions.end() ? nullptr : &*found;
}

Result<Cubin> read_cubin(std::string_view bytes) {
    Result<ElfFile> elf = ElfFile::parse(bytes);
    if (!elf.ok()) return elf.error();
    if (elf->machine != kCudaMachine) return Error{ExitCode::unreadable, "not a cubin: compiled for another machine"};
    Cubin cubin;
    cubin.elf = std::move(elf).value();
    read_architecture(cubin);
    if (cubin.architecture == 0) return Error{ExitCode::unreadable, "not a cubin: it names no architecture"};
    read_functions(cubin);
    read_resources(cubin);
    return cubin;
}

std::string what_instead(std::string_view bytes, std::string_view file) {
    constexpr std::string_view kFatBinary = "\x50\xed\x55\xba";
    std::string extract = fmt::format("extract its cubins with `cuobjdump -xelf all {}`, and name one of them", file);
    if (bytes.starts_with(kFatBinary)) return "is a fat binary; " + extract;
    if (Result<ElfFile> elf = ElfFile::parse(bytes); elf.ok() && elf->section(".nv_fatbin") != nullptr)
        return "is a program or library with embedded GPU code; " + extract;
    std::string_view head = bytes.substr(0, 4096);
    if (head.find("\n.version") != std::string_view::npos && head.find("\n.target") != std::string_view::npos)
        return fmt::format(
            "is PTX; assemble it with `ptxas -lineinfo -arch=sm_90 -o kernel.cubin {}` for your architecture", file);
    if (bytes.starts_with("\x7f"
                          "ELF"))
        return "is a program or library without embedded GPU code";
    return "is not a cubin; nvcc -cubin writes one, and Triton keeps its own in ~/.triton/cache";
}

}  // namespace gpuprof::cubin
