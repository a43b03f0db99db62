#include "io/cubin/line_program.h"

#include <fmt/format.h>

#include "core/base/elf_symbols.h"
#include "core/format/bytes.h"
#include "io/cubin/elf.h"

namespace gpuprof::cubin {
namespace {

// Forms and content types of DWARF 5, as far as tables of files use them.
enum : std::uint64_t { kPath = 1, kFolder = 2 };
enum : std::uint64_t {
    kBlock = 0x09,
    kData1 = 0x0b,
    kData2 = 0x05,
    kData4 = 0x06,
    kData8 = 0x07,
    kData16 = 0x1e,
    kString = 0x08,
    kStrp = 0x0e,
    kLineStrp = 0x1f,
    kUdata = 0x0f
};

struct Header {
    std::uint16_t version = 0;
    bool wide = false;  // 64-bit DWARF: offsets have 8 bytes
    std::uint8_t minimum_instruction = 1;
    std::int8_t line_base = 0;
    std::uint8_t line_range = 1, opcode_base = 1;
    std::string_view opcode_lengths;
    std::vector<std::string_view> folders;
};

class ProgramReader {
public:
    ProgramReader(const LineSections& sections, std::uint64_t offset)
        : sections_(sections), offset_(offset), cursor_(sections.lines.substr(offset)) {}

    Result<LineProgram> read() {
        std::uint64_t length = cursor_.u32();
        if (length == 0xFFFFFFFF) {
            header_.wide = true;
            length = cursor_.u64();
        }
        cursor_ = ByteCursor(cursor_.take(length));
        end_ = offset_ + (header_.wide ? 12 : 4) + length;
        if (!read_constants() || !read_tables()) return broken();
        cursor_.take(cursor_.left() - program_bytes_);
        run();
        if (!cursor_.ok()) return broken();
        program_.next = end_;
        return std::move(program_);
    }

private:
    Error broken() const {
        return {ExitCode::unreadable, fmt::format("broken line table at byte {} of .debug_line", offset_)};
    }

    std::uint64_t offset_number() { return header_.wide ? cursor_.u64() : cursor_.u32(); }

    bool read_constants() {
        header_.version = cursor_.u16();
        if (header_.version < 2 || header_.version > 5) return false;
        if (header_.version >= 5) cursor_.take(2);  // sizes of an address and of a segment
        std::uint64_t rest = offset_number();
        if (!cursor_.ok() || rest > cursor_.left()) return false;
        program_bytes_ = cursor_.left() - rest;
        header_.minimum_instruction = cursor_.u8();
        if (header_.version >= 4) cursor_.u8();  // operations per instruction: 1 on GPUs
        cursor_.u8();                            // is_stmt: every row counts
        header_.line_base = static_cast<std::int8_t>(cursor_.u8());
        header_.line_range = cursor_.u8();
        header_.opcode_base = cursor_.u8();
        if (header_.line_range == 0 || header_.opcode_base == 0) return false;
        header_.opcode_lengths = cursor_.take(header_.opcode_base - 1u);
        return cursor_.ok();
    }

    bool read_tables() {
        bool read = header_.version >= 5 ? read_folders() && read_files() : read_old_tables();
        return read && cursor_.ok() && cursor_.left() >= program_bytes_;
    }

    std::string_view string() {
        std::string_view rest = ByteCursor(cursor_).take(cursor_.left());
        std::string_view text = elf_text(rest, 0);
        cursor_.take(text.size() + 1);
        return text;
    }

    // Folder 0 is the one that the compiler ran in, which only .debug_info names; files count from 1.
    bool read_old_tables() {
        header_.folders.emplace_back();
        for (std::string_view name = string(); !name.empty(); name = string()) header_.folders.push_back(name);
        program_.files.emplace_back();
        for (std::string_view name = string(); !name.empty(); name = string()) add_file(name, read_old_file());
        return cursor_.ok();
    }

    std::uint64_t read_old_file() {
        std::uint64_t folder = cursor_.varint();
        cursor_.varint();  // time of modification
        cursor_.varint();  // size
        return folder;
    }

    void add_file(std::string_view name, std::uint64_t folder) {
        program_.files.push_back({folder < header_.folders.size() ? header_.folders[folder] : "", name});
    }

    using Format = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // content, form

    Format read_format() {
        Format format(cursor_.u8());
        for (auto& [content, form] : format) {
            content = cursor_.varint();
            form = cursor_.varint();
        }
        return format;
    }

    struct Entry {
        std::string_view path;
        std::uint64_t folder = 0;
    };

    // Calls `take` for each entry. Every entry has at least one byte, so that the count is bounded.
    template <class Take>
    bool read_entries(const Take& take) {
        Format format = read_format();
        std::uint64_t count = cursor_.varint();
        if (!cursor_.ok() || count > cursor_.left() || (count > 0 && format.empty())) return false;
        for (std::uint64_t i = 0; i < count; ++i) {
            Entry entry;
            for (const auto& [content, form] : format)
                if (!read_field(content, form, entry)) return false;
            if (!cursor_.ok()) return false;
            take(entry);
        }
        return true;
    }

    bool read_folders() {
        return read_entries([&](const Entry& entry) { header_.folders.push_back(entry.path); });
    }
    bool read_files() {
        return read_entries([&](const Entry& entry) { add_file(entry.path, entry.folder); });
    }

    bool read_field(std::uint64_t content, std::uint64_t form, Entry& entry) {
        std::string_view text;
        std::uint64_t number = 0;
        switch (form) {
            case kString: text = string(); break;
            case kLineStrp: text = elf_text(sections_.line_strings, offset_number()); break;
            case kStrp: text = elf_text(sections_.strings, offset_number()); break;
            case kUdata: number = cursor_.varint(); break;
            case kData1: number = cursor_.u8(); break;
            case kData2: number = cursor_.u16(); break;
            case kData4: number = cursor_.u32(); break;
            case kData8: number = cursor_.u64(); break;
            case kData16: cursor_.take(16); break;
            case kBlock: cursor_.take(cursor_.varint()); break;
            default: return false;  // of unknown length
        }
        if (content == kPath) entry.path = text;
        if (content == kFolder) entry.folder = number;
        return true;
    }

    std::int64_t signed_leb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            std::uint64_t byte = cursor_.u8();
            value |= (byte & 0x7F) << shift;
            if ((byte & 0x80) != 0) continue;
            if ((byte & 0x40) != 0 && shift + 7 < 64) value |= ~std::uint64_t{0} << (shift + 7);
            break;
        }
        return static_cast<std::int64_t>(value);
    }

    void run() {
        state_ = initial();
        while (cursor_.ok() && cursor_.left() > 0) {
            std::uint8_t opcode = cursor_.u8();
            if (opcode >= header_.opcode_base)
                special(static_cast<std::uint8_t>(opcode - header_.opcode_base));
            else if (opcode == 0)
                extended();
            else
                standard(opcode);
        }
    }

    static LineProgram::Row initial() { return {.section = 0, .address = 0, .file = 1, .line = 1, .end = false}; }

    void emit() {
        if (state_.section != 0) program_.rows.push_back(state_);
    }
    void advance(std::uint64_t operations) { state_.address += operations * header_.minimum_instruction; }
    void move_line(std::int64_t by) { state_.line += static_cast<std::uint32_t>(by); }

    void special(std::uint8_t adjusted) {
        advance(adjusted / header_.line_range);
        move_line(header_.line_base + adjusted % header_.line_range);
        emit();
    }

    void standard(std::uint8_t opcode) {
        switch (opcode) {
            case 1: emit(); break;
            case 2: advance(cursor_.varint()); break;
            case 3: move_line(signed_leb()); break;
            case 4: state_.file = cursor_.varint(); break;
            case 8: advance((255u - header_.opcode_base) / header_.line_range); break;
            case 9: state_.address += cursor_.u16(); break;
            default:
                for (int i = 0; i < header_.opcode_lengths[opcode - 1u] && cursor_.ok(); ++i) cursor_.varint();
        }
    }

    void extended() {
        std::uint64_t length = cursor_.varint();
        std::uint64_t at = end_ - cursor_.left() + 1;  // of the operand, in the section
        ByteCursor operands(cursor_.take(length));
        if (length == 0) return;
        switch (operands.u8()) {
            case 1:
                state_.end = true;
                emit();
                state_ = initial();
                break;
            case 2: {
                auto target = sections_.addresses.find(at);
                state_.section = target == sections_.addresses.end() ? 0 : target->second.section;
                state_.address = target == sections_.addresses.end() ? 0 : target->second.address;
                break;
            }
            default: break;
        }
    }

    const LineSections& sections_;
    std::uint64_t offset_, end_ = 0;
    ByteCursor cursor_;
    std::size_t program_bytes_ = 0;
    Header header_;
    LineProgram program_;
    LineProgram::Row state_;
};

}  // namespace

Result<LineProgram> read_line_program(const LineSections& sections, std::uint64_t offset) {
    return ProgramReader(sections, offset).read();
}

}  // namespace gpuprof::cubin
