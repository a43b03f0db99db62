// Reads the Python stacks of one CPython process: interpreters, their threads, each thread's frames, and of each frame
// the function, file and line. It accesses memory only through Memory, so tests and fuzzers can simulate it. The
// process continues to run: an inconsistent stack (a frame without a code object, a text that is not one) is dropped
// and counted. A consistent one may still mix two moments a few microseconds apart. Names of code objects are cached
// while the object's own fields stay the same.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "collect/python/layout.h"
#include "collect/python/process_memory.h"

namespace gpuprof::python {

// Addresses of the runtime structures; 0 if unknown (types are then not checked).
struct RuntimeAddresses {
    Address runtime = 0, code_type = 0, text_type = 0, bytes_type = 0;
};

struct ThreadStack {
    std::uint64_t native_id = 0;   // the system's thread id; 0 if the version does not store it
    std::uint64_t pthread_id = 0;  // the thread's pthread_self()
    std::string frames;            // "function (file:line)", outermost first, joined by ';'
    std::int32_t depth = 0;        // frames in `frames`
    bool cut = false;              // outer frames are missing
    std::optional<bool> holds_gil;
};

struct StackCounts {
    std::uint64_t read = 0, torn = 0, cut = 0;
};

class StackReader {
public:
    static constexpr int kMaxFrames = 256;
    static constexpr int kMaxThreads = 4096, kMaxInterpreters = 64;
    static constexpr int kMaxFramesPerReading = 65'536;  // maximum frames per reading, over all threads

    // At most `max_frames` of a stack are read, the innermost ones.
    StackReader(Memory& memory, const Layout& layout, RuntimeAddresses addresses, int max_frames = kMaxFrames)
        : memory_(memory), stack_(memory), layout_(layout), marks_(addresses), max_frames_(max_frames) {}

    // The stacks of all threads that run Python code now; empty if nothing can be read (the process ended).
    const std::vector<ThreadStack>& read();
    // The stack of one thread, by its pthread_self(); null if it runs no Python code or cannot be read. Meant for a thread that
    // reads its own: its stack does not change while it is read.
    const ThreadStack* read_thread(std::uint64_t pthread_id);
    const StackCounts& counts() const { return counts_; }

private:
    struct Code {
        Address filename = 0, name = 0, lines = 0;
        std::int32_t first_line = 0;
        std::string function, file, table;
        std::unordered_map<std::int64_t, std::string> texts;  // of frames, by their position
    };
    // A frame of Python code. `position` as in the frame: an index, or the address of an instruction.
    struct Frame {
        Address code = 0;
        std::int64_t position = 0;
        std::int32_t copy = 0;  // of the instructions that it runs
    };
    void read_threads(Address interpreter);
    Address thread_state(std::uint64_t pthread_id);
    bool is_of_thread(Address state, std::uint64_t pthread_id);
    bool read_frames(Address thread, ThreadStack& into);
    Address innermost(const Bytes& state);
    void copy_stack(const Bytes& state, Address frame);
    void take_frame(const Bytes& frame);
    bool name_frames(std::string& into);
    const std::string* text_of(const Frame& frame);
    std::optional<Address> instructions(const Frame& frame);
    Code* code_at(Address address);
    bool read_code(Code& code);
    bool read_text(Address address, std::size_t max_length, std::string& into);
    bool read_bytes(Address address, std::string& into);
    std::optional<Address> gil_holder(Address interpreter);

    Memory& memory_;
    CopiedMemory stack_;
    Layout layout_;
    RuntimeAddresses marks_;
    int max_frames_;
    StackCounts counts_;
    int threads_left_ = 0, frames_left_ = 0;  // budget of this reading
    std::vector<ThreadStack> threads_;
    Address last_state_ = 0;     // of read_thread(); most threads keep theirs
    std::vector<Frame> frames_;  // of the current thread, innermost first
    std::vector<Address> addresses_;
    std::vector<char> code_objects_;  // of these frames
    std::unordered_map<Address, Code> codes_;
    Bytes code_bytes_;
};

}  // namespace gpuprof::python
