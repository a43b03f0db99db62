#include "collect/python/layout.h"

namespace gpuprof::python {
namespace {

Layout layout_3_9() {
    Layout layout;
    layout.minor = 9;
    layout.interpreters_head = 32, layout.runtime_gil_holder = 568;
    layout.interpreter_next = 0, layout.threads_head = 8;
    layout.thread_next = 8, layout.thread_id = 176, layout.thread_frame = 24;
    layout.frame_size = 112, layout.frame_previous = 24, layout.frame_code = 32, layout.frame_position = 104;
    layout.code_size = 176, layout.code_filename = 104, layout.code_name = 112, layout.code_first_line = 40;
    layout.code_lines = 120, layout.lines = LineTable::lnotab;
    layout.text_ascii_size = 48, layout.text_compact_size = 72;
    return layout;
}

Layout layout_3_10() {
    Layout layout = layout_3_9();
    layout.minor = 10;
    layout.frame_size = 104, layout.frame_position = 96;
    layout.lines = LineTable::ranges;
    return layout;
}

Layout layout_3_11() {
    Layout layout;
    layout.minor = 11;
    layout.interpreters_head = 40, layout.runtime_gil_holder = 576;
    layout.interpreter_next = 0, layout.threads_head = 16;
    layout.thread_next = 8, layout.thread_id = 152, layout.native_thread_id = 160, layout.datastack_chunk = 296;
    layout.thread_cframe = 56, layout.cframe_frame = 8;
    layout.frame_size = 80, layout.frame_previous = 48, layout.frame_code = 32, layout.frame_position = 56;
    layout.position_is_pointer = true;
    layout.code_size = 192, layout.code_filename = 112, layout.code_name = 128, layout.code_first_line = 72;
    layout.code_lines = 136, layout.code_instructions = 184;
    layout.text_ascii_size = 48, layout.text_compact_size = 72;
    return layout;
}

Layout layout_3_12() {
    Layout layout;
    layout.minor = 12;
    layout.interpreters_head = 40;
    layout.interpreter_next = 0, layout.threads_head = 72;
    layout.interpreter_gil_pointer = 384, layout.gil_holder = 8, layout.gil_locked = 16;
    layout.thread_next = 8, layout.thread_id = 136, layout.native_thread_id = 144, layout.datastack_chunk = 232;
    layout.thread_cframe = 56, layout.cframe_frame = 0;
    layout.frame_size = 80, layout.frame_previous = 8, layout.frame_code = 0, layout.frame_position = 56;
    layout.frame_owner = 70, layout.position_is_pointer = true;
    layout.code_size = 200, layout.code_filename = 112, layout.code_name = 128, layout.code_first_line = 68;
    layout.code_lines = 136, layout.code_instructions = 192;
    return layout;
}

// _Py_DebugOffsets of 3.13: a cookie, the version, a free-threading flag, then a group of 64-bit words per structure,
// beginning with its size.
enum OffsetIndex : std::size_t {
    kCookie = 0,
    kVersion = 1,
    kFreeThreaded = 2,
    kInterpretersHead = 5,
    kInterpreterNext = 8,
    kThreadsHead = 9,
    kGilLocked = 17,
    kGilHolder = 18,
    kThreadNext = 21,
    kThreadFrame = 23,
    kThreadId = 24,
    kNativeThreadId = 25,
    kDatastackChunk = 26,
    kFrameSize = 28,
    kFramePrevious = 29,
    kFrameExecutable = 30,
    kFramePosition = 31,
    kFrameOwner = 33,
    kCodeSize = 34,
    kCodeFilename = 35,
    kCodeQualname = 37,
    kCodeLines = 38,
    kCodeFirstLine = 39,
    kCodeInstructions = 43,
    kObjectType = 45,
    kBytesSize = 65,
    kBytesData = 66,
    kTextState = 68,
    kTextLength = 69,
    kTextAsciiSize = 70,
    kWords = 73
};

}  // namespace

std::optional<Layout> layout_of(std::uint32_t minor) {
    switch (minor) {
        case 9: return layout_3_9();
        case 10: return layout_3_10();
        case 11: return layout_3_11();
        case 12: return layout_3_12();
        default: return std::nullopt;
    }
}

std::optional<Layout> read_layout(Memory& memory, Address runtime) {
    constexpr std::uint64_t kMaxOffset = 16 << 20;  // the interpreter's structure has about 100 KiB
    std::uint64_t words[kWords];
    if (!memory.read(runtime, words, sizeof words)) return std::nullopt;
    if (std::memcmp(words, "xdebugpy", 8) != 0 || words[kVersion] >> 16 != 0x030d) return std::nullopt;
    for (std::size_t word = kFreeThreaded; word < kWords; ++word)
        if (words[word] > kMaxOffset) return std::nullopt;
    if (words[kCodeSize] > Bytes::kMaxBytes || words[kFrameSize] > Bytes::kMaxBytes) return std::nullopt;
    auto at = [&](OffsetIndex word) { return static_cast<std::uint32_t>(words[word]); };
    Layout layout;
    layout.minor = 13;
    layout.interpreters_head = at(kInterpretersHead);
    layout.interpreter_next = at(kInterpreterNext), layout.threads_head = at(kThreadsHead);
    if (at(kFreeThreaded) == 0)
        layout.interpreter_gil_locked = at(kGilLocked), layout.interpreter_gil_holder = at(kGilHolder);
    layout.thread_next = at(kThreadNext), layout.thread_id = at(kThreadId), layout.thread_frame = at(kThreadFrame);
    layout.native_thread_id = at(kNativeThreadId), layout.datastack_chunk = at(kDatastackChunk);
    layout.frame_size = at(kFrameSize), layout.frame_previous = at(kFramePrevious);
    layout.frame_code = at(kFrameExecutable), layout.frame_position = at(kFramePosition);
    layout.frame_owner = at(kFrameOwner), layout.position_is_pointer = true;
    layout.code_size = at(kCodeSize), layout.code_filename = at(kCodeFilename), layout.code_name = at(kCodeQualname);
    layout.code_first_line = at(kCodeFirstLine), layout.code_lines = at(kCodeLines);
    layout.code_instructions = at(kCodeInstructions);
    layout.object_type = at(kObjectType), layout.bytes_size = at(kBytesSize), layout.bytes_data = at(kBytesData);
    layout.text_length = at(kTextLength), layout.text_state = at(kTextState),
    layout.text_ascii_size = at(kTextAsciiSize);
    layout.text_compact_size = layout.text_ascii_size + 16;  // a length and a pointer to UTF-8 (PyCompactUnicodeObject)
    return layout;
}

}  // namespace gpuprof::python
