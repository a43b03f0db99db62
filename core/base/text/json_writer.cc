#include "core/base/text/json_writer.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "core/base/text/utf8.h"

namespace gpuprof::inline base {
namespace {

// The escape of a byte, or 0 if it needs none.
char short_escape(unsigned char byte) {
    switch (byte) {
        case '"': return '"';
        case '\\': return '\\';
        case '\n': return 'n';
        case '\t': return 't';
        case '\r': return 'r';
        default: return 0;
    }
}

}  // namespace

void append_real(std::string& out, double value) {
    std::size_t begin = out.size();
    fmt::format_to(std::back_inserter(out), "{}", value);
    if (out.find_first_of(".e", begin) == std::string::npos) out += ".0";
}

void JsonWriter::key(std::string_view name) {
    before_value();
    quoted(name);
    sink_.write(": ");
    after_key_ = true;
}

void JsonWriter::text(std::string_view value) {
    before_value();
    quoted(value);
}

void JsonWriter::integer(std::int64_t value) {
    before_value();
    sink_.write(fmt::format_int(value).c_str());
}

void JsonWriter::real(double value) {
    if (!std::isfinite(value)) return null();
    before_value();
    std::string digits;
    append_real(digits, value);
    sink_.write(digits);
}

void JsonWriter::boolean(bool value) {
    before_value();
    sink_.write(value ? "true" : "false");
}

void JsonWriter::null() {
    before_value();
    sink_.write("null");
}

void JsonWriter::raw(std::string_view json) {
    before_value();
    sink_.write(json);
}

void JsonWriter::begin(char bracket) {
    before_value();
    sink_.write({&bracket, 1});
    filled_.push_back(false);
}

void JsonWriter::end(char bracket) {
    bool filled = filled_.back();
    bool lines = filled_.size() <= depth_;
    filled_.pop_back();
    if (filled && lines) next_line();
    sink_.write({&bracket, 1});
    if (filled_.empty()) sink_.write("\n");
}

// The comma and the space or line break between members.
void JsonWriter::before_value() {
    if (after_key_) {
        after_key_ = false;
        return;
    }
    if (filled_.empty()) return;
    bool lines = filled_.size() <= depth_;
    if (filled_.back()) sink_.write(lines ? "," : ", ");
    filled_.back() = true;
    if (lines) next_line();
}

void JsonWriter::next_line() {
    static constexpr std::string_view kIndent = "\n                ";
    sink_.write(kIndent.substr(0, 1 + filled_.size()));
}

void JsonWriter::quoted(std::string_view value) {
    sink_.write("\"");
    std::size_t plain = 0;  // start of the part not yet written
    for (std::size_t i = 0; i < value.size();) {
        auto byte = static_cast<unsigned char>(value[i]);
        char escape = short_escape(byte);
        CodePoint point = byte < 0x80 ? CodePoint{byte, 1, true} : decode_utf8(value.substr(i));
        if (point.valid && escape == 0 && byte >= 0x20) {
            i += point.bytes;
            continue;
        }
        sink_.write(value.substr(plain, i - plain));
        if (!point.valid)
            sink_.write("\xEF\xBF\xBD");
        else if (escape != 0)
            sink_.write(std::string{'\\', escape});
        else
            sink_.write(fmt::format("\\u{:04x}", static_cast<unsigned>(byte)));
        i += point.bytes;
        plain = i;
    }
    sink_.write(value.substr(plain));
    sink_.write("\"");
}

}  // namespace gpuprof::base
