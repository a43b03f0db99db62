#include "collect/python/layout.h"

#include <algorithm>

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

std::size_t Layout::thread_bytes() const {
    std::size_t end = 0;
    for (std::uint32_t field : {thread_next, thread_id, native_thread_id, datastack_chunk, thread_frame, thread_cframe})
        if (field != kNone) end = std::max(end, field + sizeof(Address));
    return end;
}

}  // namespace gpuprof::python
