#include "core/base/text/csv.h"

#include <charconv>

#include "core/base/text/utf8.h"

namespace gpuprof::inline base {
namespace {

// Full-width forms too: Excel treats them like the others.
bool begins_formula(char32_t value) {
    return std::u32string_view(U"=+-@\t\n\r\uFF1D\uFF0B\uFF0D\uFF20").find(value) != std::u32string_view::npos;
}

bool is_number(std::string_view text) {
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    double value = 0;
    std::from_chars_result read = std::from_chars(text.data(), text.data() + text.size(), value);
    bool named = !text.empty() && text.find_first_of("nN") != std::string_view::npos;  // inf, nan
    return read.ec == std::errc{} && read.ptr == text.data() + text.size() && !named;
}

}  // namespace

std::string sanitized_text(std::string_view text) {
    std::string out;
    if (!text.empty()) {
        char32_t first = decode_utf8(text).value;
        if (first == '\'' || (begins_formula(first) && !is_number(text))) out = "'";
    }
    while (!text.empty()) {
        CodePoint point = decode_utf8(text);
        bool kept = !is_control(point.value) || point.value == '\n' || point.value == '\t';
        append_utf8(out, kept ? point.value : kReplacement);
        text.remove_prefix(point.bytes);
    }
    return out;
}

void append_csv_text(std::string& line, std::string_view text) {
    std::string field = sanitized_text(text);
    if (field.find_first_of(",\"\n") == std::string::npos && !field.starts_with('#')) {
        line += field;
        return;
    }
    line += '"';
    for (char c : field) {
        if (c == '"') line += '"';
        line += c;
    }
    line += '"';
}

bool split_csv(std::string_view record, std::vector<std::string>& fields) {
    fields.assign(1, {});
    bool quoted = false;
    for (std::size_t i = 0; i < record.size(); ++i) {
        char c = record[i];
        if (c == '"' && quoted && i + 1 < record.size() && record[i + 1] == '"') {
            fields.back() += c;
            ++i;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            fields.emplace_back();
        } else {
            fields.back() += c;
        }
    }
    return !quoted;
}

}  // namespace gpuprof::base
