#include "collect/python/debug_offsets.h"

#include <array>
#include <span>

namespace gpuprof::python {
namespace {

// The position of each word of interest. Before `interpreters_head` all versions agree.
enum CommonWord : std::size_t { kCookie = 0, kVersion = 1, kFreeThreaded = 2, kInterpretersHead = 5 };
constexpr std::size_t kNoWord = 0;  // a word that a version lacks

struct Words {
    std::uint32_t minor;
    std::size_t count;  // words up to the last one used
    std::size_t interpreter_next, threads_head, gil_pointer, gil_state, gil_enabled, gil_locked, gil_holder;
    std::size_t thread_next, thread_frame, thread_id, native_thread_id, datastack_chunk;
    std::size_t frame_size, frame_previous, frame_executable, frame_position, frame_owner, frame_copy;
    std::size_t code_size, code_filename, code_qualname, code_lines, code_first_line, code_instructions, code_copies;
    std::size_t object_type, bytes_size, bytes_data, text_state, text_length, text_ascii_size;
};

constexpr Words kWordsOf13{
    .minor = 13,
    .count = 71,
    .interpreter_next = 8,
    .threads_head = 9,
    .gil_pointer = 14,
    .gil_state = 15,
    .gil_enabled = 16,
    .gil_locked = 17,
    .gil_holder = 18,
    .thread_next = 21,
    .thread_frame = 23,
    .thread_id = 24,
    .native_thread_id = 25,
    .datastack_chunk = 26,
    .frame_size = 28,
    .frame_previous = 29,
    .frame_executable = 30,
    .frame_position = 31,
    .frame_owner = 33,
    .frame_copy = kNoWord,
    .code_size = 34,
    .code_filename = 35,
    .code_qualname = 37,
    .code_lines = 38,
    .code_first_line = 39,
    .code_instructions = 43,
    .code_copies = kNoWord,
    .object_type = 45,
    .bytes_size = 65,
    .bytes_data = 66,
    .text_state = 68,
    .text_length = 69,
    .text_ascii_size = 70,
};

constexpr Words kWordsOf14{
    .minor = 14,
    .count = 81,
    .interpreter_next = 8,
    .threads_head = 9,
    .gil_pointer = 15,
    .gil_state = 16,
    .gil_enabled = 17,
    .gil_locked = 18,
    .gil_holder = 19,
    .thread_next = 24,
    .thread_frame = 26,
    .thread_id = 27,
    .native_thread_id = 28,
    .datastack_chunk = 29,
    .frame_size = 31,
    .frame_previous = 32,
    .frame_executable = 33,
    .frame_position = 34,
    .frame_owner = 36,
    .frame_copy = 38,
    .code_size = 39,
    .code_filename = 40,
    .code_qualname = 42,
    .code_lines = 43,
    .code_first_line = 44,
    .code_instructions = 48,
    .code_copies = 49,
    .object_type = 51,
    .bytes_size = 75,
    .bytes_data = 76,
    .text_state = 78,
    .text_length = 79,
    .text_ascii_size = 80,
};

constexpr std::size_t kMostWords = kWordsOf14.count;
constexpr std::uint64_t kMaxOffset = 16 << 20;  // the interpreter's structure has about 250 KiB

// The words of a version as PY_VERSION_HEX has it: 0x030E09F0 is 3.14.9, and F a final release, C a release candidate.
const Words* words_of(std::uint64_t version) {
    if ((version >> 4 & 0xF) < 0xC) return nullptr;
    for (const Words* words : {&kWordsOf13, &kWordsOf14})
        if (version >> 16 == (0x0300 | words->minor)) return words;
    return nullptr;
}

// The lock is a structure of its own, which several interpreters may share.
void set_lock(Layout& layout, const Words& words, std::span<const std::uint64_t> values) {
    auto at = [&](std::size_t word) { return static_cast<std::uint32_t>(values[word]); };
    if (at(words.gil_locked) < at(words.gil_state) || at(words.gil_holder) < at(words.gil_state)) return;
    layout.interpreter_gil_pointer = at(words.gil_pointer);
    layout.gil_locked = at(words.gil_locked) - at(words.gil_state);
    layout.gil_holder = at(words.gil_holder) - at(words.gil_state);
    if (values[kFreeThreaded] != 0) layout.gil_enabled = at(words.gil_enabled);  // within the lock, unlike its siblings
}

}  // namespace

std::optional<Layout> read_layout(Memory& memory, Address runtime) {
    std::array<std::uint64_t, kMostWords> values{};
    if (!memory.read(runtime, values.data(), (kVersion + 1) * sizeof values[0])) return std::nullopt;
    if (std::memcmp(values.data(), "xdebugpy", 8) != 0) return std::nullopt;
    const Words* words = words_of(values[kVersion]);
    if (words == nullptr || !memory.read(runtime, values.data(), words->count * sizeof values[0])) return std::nullopt;
    for (std::size_t word = kFreeThreaded; word < words->count; ++word)
        if (values[word] > kMaxOffset) return std::nullopt;
    auto at = [&](std::size_t word) { return static_cast<std::uint32_t>(values[word]); };
    bool free_threaded = at(kFreeThreaded) != 0;
    Layout layout;
    layout.minor = words->minor;
    layout.interpreters_head = at(kInterpretersHead);
    layout.interpreter_next = at(words->interpreter_next), layout.threads_head = at(words->threads_head);
    set_lock(layout, *words, values);
    layout.thread_next = at(words->thread_next), layout.thread_id = at(words->thread_id);
    layout.thread_frame = at(words->thread_frame), layout.native_thread_id = at(words->native_thread_id);
    layout.datastack_chunk = at(words->datastack_chunk);
    layout.frame_size = at(words->frame_size), layout.frame_previous = at(words->frame_previous);
    layout.frame_code = at(words->frame_executable), layout.frame_position = at(words->frame_position);
    layout.frame_owner = at(words->frame_owner), layout.position_is_pointer = true;
    layout.code_size = at(words->code_size), layout.code_filename = at(words->code_filename);
    layout.code_name = at(words->code_qualname), layout.code_first_line = at(words->code_first_line);
    layout.code_lines = at(words->code_lines), layout.code_instructions = at(words->code_instructions);
    layout.object_type = at(words->object_type);
    layout.bytes_size = at(words->bytes_size), layout.bytes_data = at(words->bytes_data);
    layout.text_length = at(words->text_length), layout.text_state = at(words->text_state);
    layout.text_ascii_size = at(words->text_ascii_size);
    layout.text_compact_size = layout.text_ascii_size + 16;  // a length and a pointer to UTF-8 (PyCompactUnicodeObject)
    if (words->minor >= 14) {
        layout.frame_last_c_owner = kOwnedByC + 1;
        layout.frame_code_tag = 3;  // Py_TAG_BITS of a _PyStackRef: Include/internal/pycore_stackref.h
        if (free_threaded) {
            layout.frame_copy = at(words->frame_copy), layout.code_copies = at(words->code_copies);
            layout.text_interned_bits = 8;  // a byte of its own: Include/cpython/unicodeobject.h
        }
    }
    if (layout.code_size > Bytes::kMaxBytes || layout.frame_size > Bytes::kMaxBytes ||
        layout.thread_bytes() > Bytes::kMaxBytes)
        return std::nullopt;
    return layout;
}

}  // namespace gpuprof::python
