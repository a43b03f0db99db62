// A CPython process that exists only in a test: its structures at addresses of their own, by a layout. What is at no
// address cannot be read, as in a real process.
#pragma once

#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "collect/python/debug_offsets.h"
#include "collect/python/stack_reader.h"
#include "tests/unit/python/described_builds.h"

namespace gpuprof::python {

// Memory that begins with a description, and nothing else.
class DescriptionOnly : public Memory {
public:
    explicit DescriptionOnly(const std::vector<std::uint64_t>& words) : words_{0} {
        std::memcpy(words_.data(), "xdebugpy", 8);
        words_.insert(words_.end(), words.begin(), words.end());
    }
    bool read(Address address, void* into, std::size_t size) override {
        if (address > words_.size() * 8 || size > words_.size() * 8 - address) return false;
        std::memcpy(into, reinterpret_cast<const char*>(words_.data()) + address, size);
        return true;
    }
    std::vector<std::uint64_t>& words() { return words_; }

private:
    std::vector<std::uint64_t> words_;
};

// Of a version by its minor number, with 100 added for the build without the interpreter lock.
inline Layout layout_of_build(std::uint32_t build) {
    std::uint32_t minor = build % 100;
    if (minor < 13) return *layout_of(minor);
    DescriptionOnly memory(described_build(build > 100, minor).words);
    return *read_layout(memory, 0);
}

class MadeUpPython : public Memory {
public:
    explicit MadeUpPython(Layout of) : layout(of) {
        marks = {make(1 << 16), make(8), make(8), make(8)};
        interpreter = make(1 << 14);
        put(marks.runtime + layout.interpreters_head, interpreter);
    }

    bool read(Address address, void* into, std::size_t size) override {
        auto piece = pieces_.upper_bound(address);
        if (piece == pieces_.begin()) return false;
        --piece;
        std::size_t offset = address - piece->first;
        if (offset > piece->second.size() || size > piece->second.size() - offset) return false;
        std::memcpy(into, piece->second.data() + offset, size);
        return true;
    }
    template <class T>
    void put(Address address, T value) {
        auto piece = --pieces_.upper_bound(address);
        std::memcpy(piece->second.data() + (address - piece->first), &value, sizeof value);
    }
    // Zeros of this size, with nothing readable around them.
    Address make(std::size_t size) {
        Address address = next_;
        next_ += (size + 0x2000) & ~std::size_t{0xFFF};
        pieces_[address].assign(size, '\0');
        return address;
    }

    // A text of one byte a character (ASCII), or two or four.
    Address text(std::u32string_view points, std::uint32_t width = 1, bool ascii = true) {
        std::size_t head = ascii ? layout.text_ascii_size : layout.text_compact_size;
        Address at = make(head + points.size() * width);
        put(at + layout.object_type, marks.text_type);
        put(at + layout.text_length, points.size());
        put(at + layout.text_state, (width | 1u << 3 | (ascii ? 1u << 4 : 0u)) << layout.text_interned_bits | 1u);
        for (std::size_t i = 0; i < points.size(); ++i)
            for (std::uint32_t byte = 0; byte < width; ++byte)
                put(at + head + i * width + byte, static_cast<char>(points[i] >> (8 * byte)));
        return at;
    }
    Address bytes(std::string_view data) {
        Address at = make(layout.bytes_data + data.size());
        put(at + layout.object_type, marks.bytes_type);
        put(at + layout.bytes_size, data.size());
        for (std::size_t i = 0; i < data.size(); ++i) put(at + layout.bytes_data + i, data[i]);
        return at;
    }
    Address code(Address name, Address file, std::int32_t first_line, std::string_view lines) {
        Address at = make(layout.code_size + 64);
        put(at + layout.object_type, marks.code_type);
        put(at + layout.code_name, name);
        put(at + layout.code_filename, file);
        put(at + layout.code_first_line, first_line);
        put(at + layout.code_lines, bytes(lines));
        if (layout.code_copies != kNone) {
            Address copies = make(3 * sizeof(Address));
            put(copies, std::int64_t{2}), put(copies + 8, at + layout.code_instructions), put(copies + 16, make(64));
            put(at + layout.code_copies, copies);
        }
        return at;
    }
    // Of a thread that runs a copy of the instructions, in builds that have copies.
    Address frame(Address code, std::int64_t instruction, Address previous) {
        Address at = make(layout.frame_size), first = code + layout.code_instructions;
        put(at + layout.frame_previous, previous);
        put(at + layout.frame_code, code | (layout.frame_code_tag & 1));
        if (layout.frame_copy != kNone) {
            put(at + layout.frame_copy, std::int32_t{1});
            first = *pointer(*pointer(code + layout.code_copies) + 16);
        }
        if (layout.position_is_pointer)
            put(at + layout.frame_position, first + static_cast<Address>(2 * instruction));
        else
            put(at + layout.frame_position, static_cast<std::int32_t>(instruction));
        return at;
    }
    Address thread(Address innermost, std::uint64_t native_id, Address next) {
        Address at = make(400);
        put(at + layout.thread_next, next);
        if (layout.native_thread_id != kNone) put(at + layout.native_thread_id, native_id);
        put(at + layout.thread_id, native_id + 1);
        if (layout.thread_frame != kNone) {
            put(at + layout.thread_frame, innermost);
        } else {
            Address cframe = make(64);
            put(cframe + layout.cframe_frame, innermost);
            put(at + layout.thread_cframe, cframe);
        }
        put(interpreter + layout.threads_head, at);
        return at;
    }

    Layout layout;
    RuntimeAddresses marks;
    Address interpreter = 0;
    std::map<Address, std::vector<char>>& pieces() { return pieces_; }

private:
    std::map<Address, std::vector<char>> pieces_;
    Address next_ = 0x10000;
};

}  // namespace gpuprof::python
