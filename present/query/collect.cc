#include "present/query/collect.h"

#include <fmt/format.h>

#include <bit>

#include "core/base/text/json_writer.h"

namespace gpuprof::inline query {
namespace {

constexpr std::size_t kMaxResultTexts = std::size_t{1} << 30;  // of different texts in a result

// The values of one column in arrival order.
struct Gathered {
    enum Kind : unsigned char { absent, integer, real, text };
    std::vector<std::int64_t> bits;  // an integer, the bits of a real, or the id of a text
    std::vector<Kind> kinds;
    Kind widest = absent;

    void add(Kind kind, std::int64_t value) {
        bits.push_back(value), kinds.push_back(kind);
        if (kind > widest) widest = kind;
    }
};

void add(Gathered& column, const Cell& cell, StringPool& strings) {
    if (const auto* integer = std::get_if<std::int64_t>(&cell))
        column.add(Gathered::integer, *integer);
    else if (const auto* real = std::get_if<double>(&cell))
        column.add(Gathered::real, std::bit_cast<std::int64_t>(*real));
    else if (const auto* text = std::get_if<std::string_view>(&cell))
        column.add(Gathered::text, index_of(strings.intern(*text)));
    else
        column.add(Gathered::absent, 0);
}

void set(OwnedFrame& frame, std::size_t at, Row row, const Gathered& column, const StringPool& strings) {
    std::int64_t bits = column.bits[row];
    bool as_text = column.widest == Gathered::text;
    std::string number;
    switch (column.kinds[row]) {
        case Gathered::absent: return;
        case Gathered::integer:
            number = std::to_string(bits);
            return frame.set(at, row, as_text ? Cell(std::string_view(number)) : Cell(bits));
        case Gathered::real:
            append_real(number, std::bit_cast<double>(bits));
            return frame.set(at, row, as_text ? Cell(std::string_view(number)) : Cell(std::bit_cast<double>(bits)));
        case Gathered::text: return frame.set(at, row, strings[StringId{static_cast<std::uint32_t>(bits)}]);
    }
}

FrameType type_of(Gathered::Kind widest) {
    return widest == Gathered::text ? FrameType::text : widest == Gathered::real ? FrameType::f64 : FrameType::i64;
}

}  // namespace

Result<std::unique_ptr<OwnedFrame>> collect(SqlRows& rows, std::size_t most) {
    std::vector<Gathered> columns(rows.columns());
    StringPool strings;
    std::size_t count = 0;
    while (true) {
        Result<bool> there = rows.next();
        if (!there.ok()) return there.error();
        if (!*there) break;
        if (++count > most)
            return Error{ExitCode::usage,
                         fmt::format("the result has more than {} rows; narrow the query or raise max_rows", most)};
        for (std::size_t i = 0; i < columns.size(); ++i) add(columns[i], rows.cell(i), strings);
        if (strings.bytes() > kMaxResultTexts)
            return Error{ExitCode::usage,
                         fmt::format("the texts of the result exceed {} MiB; narrow the query", kMaxResultTexts >> 20)};
    }
    auto frame = std::make_unique<OwnedFrame>();
    for (std::size_t i = 0; i < columns.size(); ++i)
        frame->add_column(std::string(rows.column(i)), type_of(columns[i].widest), Unit::none, "");
    for (std::size_t i = 0; i < columns.size(); ++i)
        for (Row row = 0; row < count; ++row) set(*frame, i, row, columns[i], strings);
    frame->close(count);
    return frame;
}

}  // namespace gpuprof::query
