#include "io/importers/autograd_range.h"

#include <charconv>

#include "io/importers/row_values.h"

namespace gpuprof::inline importers {
namespace {

// Moves past `expected` if it is next.
bool take(std::string_view& text, std::string_view expected) {
    if (!text.starts_with(expected)) return false;
    text.remove_prefix(expected.size());
    return true;
}

bool take_number(std::string_view& text, std::optional<std::int64_t>& value) {
    std::int64_t number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || value) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    value = number;
    return true;
}

// A list of lists of numbers, up to its closing bracket.
bool take_list(std::string_view& text, std::string_view& list) {
    if (!text.starts_with('[') || !list.empty()) return false;
    std::size_t depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (c == '[') ++depth;
        if (c == ']' && --depth == 0) {
            list = text.substr(0, i + 1);
            text.remove_prefix(i + 1);
            return true;
        }
        if (std::string_view("[]()0123456789-, ").find(c) == std::string_view::npos) return false;
    }
    return false;
}

bool take_details(std::string_view text, AutogradRange& range) {
    while (!text.empty()) {
        bool known = false;
        if (take(text, ", seq = "))
            known = take_number(text, range.sequence);
        else if (take(text, ", op_id = "))
            known = take_number(text, range.op_id);
        else if (take(text, ", sizes = "))
            known = take_list(text, range.sizes);
        else if (take(text, ", input_op_ids = "))
            known = take_list(text, range.input_ops);
        if (!known) return false;
    }
    return true;
}

}  // namespace

AutogradRange parse_autograd_range(std::string_view text) {
    for (std::size_t at = text.find(", "); at != text.npos && at > 0; at = text.find(", ", at + 2)) {
        AutogradRange range;
        range.name = text.substr(0, at);
        if (take_details(text.substr(at), range)) return range;
    }
    return {text, {}, {}, {}, {}};
}

void set_range_text(Batch& batch, Row row, std::string_view text) {
    if (text.empty()) return;
    RangeTable& table = batch.tables.range;
    AutogradRange range = parse_autograd_range(text);
    table.name.set(row, batch.intern(range.name));
    set_known(table.sequence, row, range.sequence);
    set_known(table.op_id, row, range.op_id);
    set_text(batch, table.input_dims, row, range.sizes);
    set_text(batch, table.input_ops, row, range.input_ops);
}

}  // namespace gpuprof::importers
