#include "collect/python/stack_reader.h"

#include <algorithm>

#include "collect/python/python_line_table.h"

namespace gpuprof::python {
namespace {

constexpr std::size_t kMaxNameLength = 1024, kMaxPathLength = 4096, kMaxTableBytes = 1 << 20;
constexpr std::size_t kMaxCodes = 50'000;      // cached; programs have several tens of thousands
constexpr std::size_t kMaxPositions = 10'000;  // cached, of one code object
constexpr int kAttempts = 3;  // a stack is torn if it changes while it is read, which rarely happens twice
constexpr Address kMaxStackChunk = 256 * 1024;

// PyASCIIObject.state after the bits about interning: three bits of width, then whether the text follows the header, and
// whether it is ASCII.
constexpr std::uint32_t kWidth = 7, kCompact = 1u << 3, kAscii = 1u << 4;

void append_utf8(std::string& to, std::uint32_t point) {
    auto put = [&](std::uint32_t byte) { to += static_cast<char>(byte); };
    if (point < 0x80) return put(point);
    if (point < 0x800) {
        put(0xC0 | point >> 6);
        return put(0x80 | (point & 63));
    }
    if (point >= 0xD800 && point < 0xE000) point = 0xFFFD;
    if (point > 0x10FFFF) point = 0xFFFD;
    if (point < 0x10000) {
        put(0xE0 | point >> 12);
        put(0x80 | (point >> 6 & 63));
        return put(0x80 | (point & 63));
    }
    put(0xF0 | point >> 18);
    put(0x80 | (point >> 12 & 63));
    put(0x80 | (point >> 6 & 63));
    put(0x80 | (point & 63));
}

std::string decode(const std::string& raw, std::uint32_t width) {
    std::string text;
    for (std::size_t at = 0; at + width <= raw.size(); at += width) {
        std::uint32_t point = 0;
        std::memcpy(&point, raw.data() + at, width);
        append_utf8(text, point);
    }
    return text;
}

// The last part of a path; for file names that every package has, with the folder.
std::string short_file(const std::string& path) {
    std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return path;
    std::string name = path.substr(slash + 1);
    if (name.substr(0, 2) != "__" || slash == 0) return name;
    std::size_t before = path.rfind('/', slash - 1);
    return path.substr(before == std::string::npos ? 0 : before + 1);
}

// Semicolons and line feeds separate frames and lines elsewhere.
void make_plain(std::string& text) {
    for (char& c : text)
        if (c == ';' || static_cast<unsigned char>(c) < ' ') c = ',';
}

}  // namespace

const std::vector<ThreadStack>& StackReader::read() {
    threads_.clear();
    threads_left_ = kMaxThreads;
    frames_left_ = kMaxFramesPerReading;
    std::optional<Address> interpreter = memory_.pointer(marks_.runtime + layout_.interpreters_head);
    for (int i = 0; i < kMaxInterpreters && interpreter && *interpreter != 0; ++i) {
        read_threads(*interpreter);
        interpreter = memory_.pointer(*interpreter + layout_.interpreter_next);
    }
    return threads_;
}

bool StackReader::is_of_thread(Address state, std::uint64_t pthread_id) {
    return state != 0 && memory_.value<std::uint64_t>(state + layout_.thread_id) == pthread_id;
}

Address StackReader::thread_state(std::uint64_t pthread_id) {
    if (is_of_thread(last_state_, pthread_id)) return last_state_;
    threads_left_ = kMaxThreads;
    std::optional<Address> interpreter = memory_.pointer(marks_.runtime + layout_.interpreters_head);
    for (int i = 0; i < kMaxInterpreters && interpreter && *interpreter != 0; ++i) {
        std::optional<Address> thread = memory_.pointer(*interpreter + layout_.threads_head);
        for (; threads_left_ > 0 && thread && *thread != 0; --threads_left_) {
            if (is_of_thread(*thread, pthread_id)) return *thread;
            thread = memory_.pointer(*thread + layout_.thread_next);
        }
        interpreter = memory_.pointer(*interpreter + layout_.interpreter_next);
    }
    return 0;
}

const ThreadStack* StackReader::read_thread(std::uint64_t pthread_id) {
    last_state_ = thread_state(pthread_id);
    if (last_state_ == 0) return nullptr;
    frames_left_ = kMaxFramesPerReading;
    threads_.clear();
    ThreadStack& stack = threads_.emplace_back();
    if (!read_frames(last_state_, stack)) {
        ++counts_.torn;
        return nullptr;
    }
    ++counts_.read;
    counts_.cut += stack.cut;
    return stack.depth > 0 ? &stack : nullptr;
}

std::optional<Address> StackReader::gil_holder(Address interpreter) {
    if (layout_.runtime_gil_holder != kNone) return memory_.pointer(marks_.runtime + layout_.runtime_gil_holder);
    Address lock = interpreter;
    std::uint32_t holder = layout_.interpreter_gil_holder, locked = layout_.interpreter_gil_locked;
    if (layout_.interpreter_gil_pointer != kNone) {
        std::optional<Address> found = memory_.pointer(interpreter + layout_.interpreter_gil_pointer);
        if (!found || *found == 0) return std::nullopt;
        lock = *found;
        holder = layout_.gil_holder;
        locked = layout_.gil_locked;
    }
    if (holder == kNone) return std::nullopt;
    if (layout_.gil_enabled != kNone && memory_.value<std::int32_t>(lock + layout_.gil_enabled).value_or(0) == 0)
        return std::nullopt;  // threads run without the lock
    std::optional<std::int32_t> is_locked = memory_.value<std::int32_t>(lock + locked);
    if (!is_locked) return std::nullopt;
    return *is_locked != 0 ? memory_.pointer(lock + holder) : Address{0};
}

void StackReader::read_threads(Address interpreter) {
    std::optional<Address> holder = gil_holder(interpreter);
    std::optional<Address> thread = memory_.pointer(interpreter + layout_.threads_head);
    for (; threads_left_ > 0 && frames_left_ > 0 && thread && *thread != 0; --threads_left_) {
        ThreadStack stack;
        if (holder) stack.holds_gil = *holder == *thread;
        bool whole = false;
        for (int attempt = 0; attempt < kAttempts && !whole; ++attempt) whole = read_frames(*thread, stack);
        if (!whole) {
            ++counts_.torn;
        } else if (stack.depth > 0) {
            ++counts_.read;
            counts_.cut += stack.cut;
            threads_.push_back(std::move(stack));
        }
        thread = memory_.pointer(*thread + layout_.thread_next);
    }
}

Address StackReader::innermost(const Bytes& state) {
    if (layout_.thread_frame != kNone) return state.pointer(layout_.thread_frame);
    Address cframe = state.pointer(layout_.thread_cframe);
    return cframe != 0 ? memory_.pointer(cframe + layout_.cframe_frame).value_or(0) : 0;
}

// Since 3.11 most frames are consecutive in a chunk of their thread (_PyStackChunk: previous, size, top, data). It is
// copied at once, which is cheaper than reading frame by frame, and consistent.
void StackReader::copy_stack(const Bytes& state, Address frame) {
    stack_.forget();
    if (layout_.datastack_chunk == kNone) return;
    Address chunk = state.pointer(layout_.datastack_chunk), end = frame + layout_.frame_size;
    if (chunk == 0 || frame <= chunk || end - chunk > kMaxStackChunk) return;
    stack_.copy(chunk, end);
}

bool StackReader::read_frames(Address thread, ThreadStack& into) {
    Bytes state;
    if (!state.fill(memory_, thread, layout_.thread_bytes())) return false;
    if (layout_.native_thread_id != kNone) into.native_id = state.get<std::uint64_t>(layout_.native_thread_id);
    into.pthread_id = state.get<std::uint64_t>(layout_.thread_id);
    into.frames.clear();
    into.depth = 0;
    into.cut = false;
    frames_.clear();
    Address frame = innermost(state);
    copy_stack(state, frame);
    Address earlier = 0;  // an earlier frame: meeting it again means a cycle
    for (int i = 0; frame != 0; ++i) {
        if (--frames_left_ <= 0) return false;
        if (i == max_frames_) {
            into.cut = true;
            break;
        }
        Bytes bytes;
        if (!bytes.fill(stack_, frame, layout_.frame_size)) return false;
        take_frame(bytes);
        if ((i & (i - 1)) == 0) earlier = frame;
        frame = bytes.pointer(layout_.frame_previous);
        if (frame == earlier) return false;
    }
    into.depth = static_cast<std::int32_t>(frames_.size());
    return name_frames(into.frames);
}

// A C frame adds nothing.
void StackReader::take_frame(const Bytes& frame) {
    if (layout_.frame_owner != kNone) {
        auto owner = frame.get<std::uint8_t>(layout_.frame_owner);
        if (owner >= kOwnedByC && owner <= layout_.frame_last_c_owner) return;
    }
    frames_.push_back({frame.pointer(layout_.frame_code) & ~layout_.frame_code_tag,
                       layout_.position_is_pointer ? static_cast<std::int64_t>(frame.pointer(layout_.frame_position))
                                                   : std::int64_t{frame.get<std::int32_t>(layout_.frame_position)},
                       layout_.frame_copy == kNone ? 0 : frame.get<std::int32_t>(layout_.frame_copy)});
}

// Returns whether all frames were plausible. Their code objects are read at once.
bool StackReader::name_frames(std::string& into) {
    addresses_.clear();
    for (const Frame& frame : frames_) addresses_.push_back(frame.code);
    code_objects_.resize(frames_.size() * layout_.code_size);
    if (!memory_.read_each(addresses_, code_objects_.data(), layout_.code_size)) return false;
    for (std::size_t i = frames_.size(); i-- > 0;) {
        code_bytes_.assign(code_objects_.data() + i * layout_.code_size, layout_.code_size);
        const std::string* text = text_of(frames_[i]);
        if (text == nullptr) return false;
        if (!into.empty()) into += ';';
        into += *text;
    }
    return true;
}

// Of the frame whose code object code_bytes_ holds.
const std::string* StackReader::text_of(const Frame& frame) {
    Code* code = code_at(frame.code);
    if (code == nullptr) return nullptr;
    std::int64_t position = frame.position;
    if (layout_.position_is_pointer) {
        std::optional<Address> first = instructions(frame);
        if (!first) return nullptr;
        position = static_cast<std::int64_t>(static_cast<Address>(frame.position) - *first) / 2;
    }
    if (code->texts.size() >= kMaxPositions) code->texts.clear();
    auto [text, added] = code->texts.try_emplace(position);
    if (!added) return &text->second;
    std::optional<std::int32_t> line = line_at(layout_.lines, code->table, position, code->first_line);
    text->second.append(code->function).append(" (").append(code->file);
    if (line) text->second.append(":").append(std::to_string(*line));
    text->second += ')';
    return &text->second;
}

// The first instruction that the frame runs: in the code object itself, which code_bytes_ holds, or in the thread's copy.
// The list of copies is their number followed by pointers (_PyCodeArray); number 0 is the code object's own.
std::optional<Address> StackReader::instructions(const Frame& frame) {
    std::int32_t copy = frame.copy;
    if (copy == 0) return frame.code + layout_.code_instructions;
    Address copies = code_bytes_.pointer(layout_.code_copies);
    std::optional<std::int64_t> count = copies == 0 ? std::nullopt : memory_.value<std::int64_t>(copies);
    if (!count || copy < 0 || copy >= *count) return std::nullopt;
    std::optional<Address> first = memory_.pointer(copies + sizeof(Address) * (1 + static_cast<Address>(copy)));
    return first && *first != 0 ? first : std::nullopt;
}

StackReader::Code* StackReader::code_at(Address address) {
    if (marks_.code_type != 0 && code_bytes_.pointer(layout_.object_type) != marks_.code_type) return nullptr;
    Code found;
    found.filename = code_bytes_.pointer(layout_.code_filename);
    found.name = code_bytes_.pointer(layout_.code_name);
    found.lines = code_bytes_.pointer(layout_.code_lines);
    found.first_line = code_bytes_.get<std::int32_t>(layout_.code_first_line);
    auto known = codes_.find(address);
    if (known != codes_.end()) {
        Code& code = known->second;
        if (code.filename == found.filename && code.name == found.name && code.lines == found.lines &&
            code.first_line == found.first_line)
            return &code;
    }
    if (!read_code(found)) return nullptr;
    if (codes_.size() >= kMaxCodes) codes_.clear();
    return &(codes_[address] = std::move(found));
}

bool StackReader::read_code(Code& code) {
    std::string path;
    if (!read_text(code.name, kMaxNameLength, code.function) || !read_text(code.filename, kMaxPathLength, path) ||
        !read_bytes(code.lines, code.table))
        return false;
    code.file = short_file(path);
    make_plain(code.function);
    make_plain(code.file);
    return true;
}

bool StackReader::read_text(Address address, std::size_t max_length, std::string& into) {
    Bytes head;
    if (address == 0 || !head.fill(memory_, address, layout_.text_ascii_size)) return false;
    if (marks_.text_type != 0 && head.pointer(layout_.object_type) != marks_.text_type) return false;
    auto length = head.get<std::uint64_t>(layout_.text_length);
    std::uint32_t state = head.get<std::uint32_t>(layout_.text_state) >> layout_.text_interned_bits;
    std::uint32_t width = state & kWidth;
    if (length > max_length || (state & kCompact) == 0 || (width != 1 && width != 2 && width != 4)) return false;
    std::string raw(length * width, '\0');
    Address data = address + ((state & kAscii) != 0 ? layout_.text_ascii_size : layout_.text_compact_size);
    if (length > 0 && !memory_.read(data, raw.data(), raw.size())) return false;
    into = decode(raw, width);
    return true;
}

bool StackReader::read_bytes(Address address, std::string& into) {
    Bytes head;
    if (address == 0 || !head.fill(memory_, address, layout_.bytes_data)) return false;
    if (marks_.bytes_type != 0 && head.pointer(layout_.object_type) != marks_.bytes_type) return false;
    auto size = head.get<std::uint64_t>(layout_.bytes_size);
    if (size > kMaxTableBytes) return false;
    into.assign(size, '\0');
    return size == 0 || memory_.read(address + layout_.bytes_data, into.data(), size);
}

}  // namespace gpuprof::python
