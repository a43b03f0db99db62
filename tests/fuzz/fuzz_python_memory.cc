// Fuzz target of the reader of Python stacks: the input is the memory of a process, at address 0, and a few choices. Any
// memory gives stacks or counted losses within bounds, the same when it is read twice.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "collect/python/debug_offsets.h"
#include "collect/python/stack_reader.h"
#include "core/base/elf_symbols.h"
#include "tests/fuzz/fuzz_target.h"

namespace gpuprof::fuzz {

using namespace python;

namespace {

class InputMemory final : public Memory {
public:
    explicit InputMemory(std::string_view bytes) : bytes_(bytes) {}
    bool read(Address address, void* into, std::size_t size) override {
        // Pointers of an input are rarely small: the memory repeats, but for the highest addresses.
        if (address > ~Address{0} >> 8 || bytes_.empty() || size > bytes_.size()) return false;
        std::size_t at = static_cast<std::size_t>(address % bytes_.size());
        if (size > bytes_.size() - at) return false;
        std::memcpy(into, bytes_.data() + at, size);
        return true;
    }

private:
    std::string_view bytes_;
};

}  // namespace

void run_python_memory(std::string_view bytes) {
    if (bytes.size() < 16) return;
    constexpr std::string_view kNames[] = {"_PyRuntime", "x"};
    symbol_values(bytes, kNames);
    image_address(bytes, static_cast<std::uint8_t>(bytes[1]));
    ElfFunctions(bytes).at(static_cast<std::uint8_t>(bytes[1]));
    InputMemory memory(bytes.substr(2));
    std::uint32_t minor = 9 + static_cast<std::uint8_t>(bytes[0]) % 5u;
    std::optional<Layout> layout = minor == 13 ? read_layout(memory, 0) : layout_of(minor);
    if (!layout) return;
    StackReader reader(memory, *layout, {.runtime = static_cast<std::uint8_t>(bytes[1])});
    std::size_t first = reader.read().size();
    for (const ThreadStack& stack : reader.read())
        if (stack.depth <= 0 || stack.depth > StackReader::kMaxFrames || stack.frames.empty()) std::abort();
    if (reader.read().size() != first || first > StackReader::kMaxThreads) std::abort();
}

}  // namespace gpuprof::fuzz
