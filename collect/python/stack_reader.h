// Reads the Python stacks of one CPython process: interpreters, their threads, each thread's frames, and of each frame the
// function, file and line. Knows memory only by Memory, so it is tested and fuzzed on made-up memory. The process runs on
// meanwhile: a stack whose pieces do not fit together (a frame without a code object, a text that is none) is left out and
// counted. What fits may still mix two moments some microseconds apart.
// Names of code objects are kept as long as the object's own fields stay the same.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "collect/python/layout.h"
#include "collect/python/memory.h"

namespace gpuprof::python {

// Where the process has what is looked for; 0 where that is not known (types are then not checked).
struct Landmarks {
    Address runtime = 0, code_type = 0, text_type = 0, bytes_type = 0;
};

struct ThreadStack {
    std::uint64_t native_id = 0;   // the system's id of the thread; 0 when the version does not store it
    std::uint64_t pthread_id = 0;  // pthread_self() of it
    std::string frames;            // "function (file:line)", the outermost first, joined by ';'
    std::int32_t depth = 0;        // frames in `frames`
    bool cut = false;              // there were more, further out
    std::optional<bool> holds_gil;
};

struct StackCounts {
    std::uint64_t read = 0, torn = 0, cut = 0;
};

class StackReader {
public:
    static constexpr int kMostFrames = 256;
    static constexpr int kMostThreads = 4096, kMostInterpreters = 64;
    static constexpr int kMostWork = 65'536;  // frames looked at in one reading, of all threads

    StackReader(Memory& memory, const Layout& layout, Landmarks landmarks)
        : memory_(memory), stack_(memory), layout_(layout), marks_(landmarks) {}

    // The stacks of all threads that run Python code now; empty when nothing can be read (the process ended).
    const std::vector<ThreadStack>& read();
    const StackCounts& counts() const { return counts_; }

private:
    struct Code {
        Address filename = 0, name = 0, lines = 0;
        std::int32_t first_line = 0;
        std::string function, file, table;
    };
    void read_threads(Address interpreter);
    bool fill_state(Bytes& state, Address thread);
    bool read_frames(Address thread, ThreadStack& into);
    Address innermost(const Bytes& state);
    void copy_stack(const Bytes& state, Address frame);
    bool add_frame(const Bytes& frame);
    const Code* code_at(Address address);
    bool read_code(Code& code);
    bool read_text(Address address, std::size_t most, std::string& into);
    bool read_bytes(Address address, std::string& into);
    std::optional<Address> gil_holder(Address interpreter);

    Memory& memory_;
    CopiedMemory stack_;
    Layout layout_;
    Landmarks marks_;
    StackCounts counts_;
    int threads_left_ = 0, frames_left_ = 0;  // to look at in this reading
    std::vector<ThreadStack> threads_;
    std::vector<std::string> frames_;  // of the thread that is read, innermost first
    std::unordered_map<Address, Code> codes_;
    Bytes code_bytes_;
};

}  // namespace gpuprof::python
