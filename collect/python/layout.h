// The layout of CPython's structures that describe a stack: offsets in bytes, on 64-bit machines. 3.13 and 3.14 describe
// themselves (debug_offsets.h). For 3.9 to 3.12 the offsets come from CPython's
// own headers (Include/internal/pycore_runtime.h, pycore_interp.h, pycore_frame.h, Include/cpython/pystate.h, code.h,
// frameobject.h, unicodeobject.h), which are stable within a minor version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "collect/python/process_memory.h"

namespace gpuprof::python {

// An offset that a version lacks.
inline constexpr std::uint32_t kNone = 0xFFFFFFFFu;

// The encoding of line numbers, and the meaning of a frame's position.
enum class LineTable : std::uint8_t { lnotab, ranges, locations };

// A frame of a C function in the same chain, not of Python code (FRAME_OWNED_BY_CSTACK, since 3.12; in 3.14
// FRAME_OWNED_BY_INTERPRETER, and 4 is FRAME_OWNED_BY_CSTACK).
inline constexpr std::uint8_t kOwnedByC = 3;

struct Layout {
    std::uint32_t minor = 0;  // 3.minor
    std::uint32_t interpreters_head = 0;
    std::uint32_t interpreter_next = 0, threads_head = 0;
    // The thread state that holds the GIL: at _PyRuntime, at the interpreter, or at the lock that it points to.
    std::uint32_t runtime_gil_holder = kNone, interpreter_gil_holder = kNone, interpreter_gil_locked = kNone;
    std::uint32_t interpreter_gil_pointer = kNone, gil_holder = kNone, gil_locked = kNone;
    std::uint32_t gil_enabled = kNone;  // free-threaded builds: whether the lock is used at all, an int at the lock

    std::uint32_t thread_next = 0, thread_id = 0, native_thread_id = kNone, datastack_chunk = kNone;
    // The innermost frame: at the thread state, or at the structure that it points to (cframe).
    std::uint32_t thread_frame = kNone, thread_cframe = kNone, cframe_frame = kNone;

    std::uint32_t frame_size = 0, frame_previous = 0, frame_code = 0, frame_position = 0, frame_owner = kNone;
    bool position_is_pointer = false;             // to an instruction; otherwise an index
    std::uint8_t frame_last_c_owner = kOwnedByC;  // owners from kOwnedByC to this have no Python code
    Address frame_code_tag = 0;                   // bits of the pointer to the code object that are not its address
    // Free-threaded 3.14: each thread runs a copy of the instructions, number frame_copy of those that code_copies lists.
    std::uint32_t frame_copy = kNone, code_copies = kNone;

    std::uint32_t code_size = 0, code_filename = 0, code_name = 0, code_first_line = 0, code_lines = 0;
    std::uint32_t code_instructions = kNone;  // offset of the instructions in the code object
    LineTable lines = LineTable::locations;

    std::uint32_t object_type = 8, bytes_size = 16, bytes_data = 32;
    std::uint32_t text_length = 16, text_state = 32, text_ascii_size = 40, text_compact_size = 56;
    std::uint32_t text_interned_bits = 2;  // before the width in the state of a text

    // The bytes of a thread's state that hold all fields above.
    std::size_t thread_bytes() const;
};

// For 3.9 to 3.12; absent for any other version.
std::optional<Layout> layout_of(std::uint32_t minor);

}  // namespace gpuprof::python
