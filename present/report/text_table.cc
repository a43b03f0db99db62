#include "present/report/text_table.h"
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "core/base/text/readable.h"
#include "present/report/paint.h"
#include "present/report/text_lines.h"
#include "present/report/value.h"

namespace gpuprof::inline report {
namespace {

constexpr int kBetween = 2;  // spaces between columns
// Text columns are not cut below these while a column can be omitted instead: the first one names the row.
constexpr int kMinNameWidth = 32, kMinTextWidth = 16;
constexpr int kMinDocWidth = 24;
constexpr int kMinProseWidth = 40;  // narrower sentences are below their row
// Columns that hold sentences.
constexpr std::string_view kProse[] = {"doc", "text", "what", "why", "remedy", "title", "evidence", "would_change_if"};
// One column of the text: of the table, or the handles.
struct Shown {
    std::size_t source;  // index in the table
    bool handle = false;
    bool right = false;
    bool prose = false;  // sentences, wrapped instead of cut
    bool empty = true;   // no row has a value
    int width = 0;
    std::string header;
};

class Layout {
public:
    Layout(const ResultTable& table, const Style& style)
        : table_(table),
          style_(style),
          rows_(shown_rows(table, style.limit)),
          amounts_(table.column("value")),
          units_(amounts_ < table.columns().size() ? table.column("unit") : table.columns().size()) {
        if (!table.handle_prefix.empty())
            columns_.push_back({.source = 0, .handle = true, .empty = false, .header = ""});
        for (std::size_t i = 0; i < table.columns().size(); ++i) {
            const ResultColumn& column = table.columns()[i];
            if (i == units_) continue;
            bool prose = std::find(std::begin(kProse), std::end(kProse), column.name) != std::end(kProse);
            columns_.push_back({.source = i, .right = is_number(column), .prose = prose, .header = header_of(column)});
        }
        for (Shown& column : columns_) {
            measure(column);
            if (is_text(column) && is_wanted(column) && column.width > kMinProseWidth) column.prose = true;
        }
        name_apart();
    }

    void write(Sink& sink) {
        bool wide = total() > style_.width && !shrink(kMinNameWidth, kMinTextWidth) && figures_alone() > style_.width;
        if (rows_ == 1 && wide && label_width() + kBetween + side_width() <= style_.width)
            return write_on_its_side(sink);
        move_below();
        while (total() > style_.width && !shrink(kMinNameWidth, kMinTextWidth) && leave_out_one(false)) {
        }
        while (total() > style_.width && !shrink(kMinTextWidth, 8) && leave_out_one(true)) {
        }
        shrink(8, 8);
        write_lines(sink);
        write_left_out(sink);
    }

private:
    std::string cell(std::size_t row, const Shown& column) const {
        if (column.handle) return handle_of(table_, row);
        if (column.source == amounts_ && units_ < table_.columns().size())  // each row has a unit of its own
            if (const Cell amount = table_.cell(row, amounts_), unit = table_.cell(row, units_); amount.index() != 0) {
                const auto* text = std::get_if<std::string_view>(&unit);
                const auto* whole = std::get_if<std::int64_t>(&amount);
                const auto* real = std::get_if<double>(&amount);
                if (whole != nullptr || real != nullptr)
                    return format_amount(real != nullptr ? *real : static_cast<double>(*whole),
                                         text != nullptr ? *text : std::string_view());
            }
        return format_cell(table_.cell(row, column.source), table_.columns()[column.source], style_.unicode);
    }

    void measure(Shown& column) {
        column.width = display_width(column.header);
        for (std::size_t row = 0; row < rows_; ++row) {
            column.width = std::max(column.width, display_width(cell(row, column)));
            column.empty = column.empty && table_.cell(row, column.source).index() == 0;
        }
    }

    int total() const {
        int between = kBetween * (static_cast<int>(columns_.size()) - 1);
        return std::accumulate(columns_.begin(), columns_.end(), between,
                               [](int sum, const Shown& c) { return sum + c.width; });
    }

    // Without the sentences, which can stand below their row.
    int figures_alone() const {
        return std::accumulate(columns_.begin(), columns_.end(), -kBetween,
                               [](int sum, const Shown& c) { return sum + (c.prose ? 0 : kBetween + c.width); });
    }

    bool is_wanted(const Shown& column) const {
        return !column.handle && std::find(table_.wanted.begin(), table_.wanted.end(),
                                           table_.columns()[column.source].name) != table_.wanted.end();
    }

    // Of columns that differ in their unit only, the later ones have it in their headers.
    void name_apart() {
        for (auto column = columns_.begin(); column != columns_.end(); ++column) {
            auto alike = [&](const Shown& other) { return !other.handle && other.header == column->header; };
            if (column->handle || std::none_of(columns_.begin(), column, alike)) continue;
            column->header = table_.columns()[column->source].name;
            std::replace(column->header.begin(), column->header.end(), '_', ' ');
            column->width = std::max(column->width, display_width(column->header));
        }
    }

    // Sentences that would be cut into narrow strips stand below their row instead.
    void move_below() {
        if (total() <= style_.width) return;
        int needed = -kBetween;
        for (const Shown& column : columns_) {
            int least = column.prose ? kMinProseWidth : kMinNameWidth;
            needed += kBetween + (is_text(column) ? std::min(column.width, least) : column.width);
        }
        if (needed <= style_.width) return;
        std::size_t first = columns_[0].handle ? 2 : 1;
        for (std::size_t i = first; i < columns_.size();) {
            if (!columns_[i].prose || columns_[i].empty) {
                ++i;
                continue;
            }
            below_.push_back(columns_[i]);
            columns_.erase(columns_.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }

    bool is_text(const Shown& column) const { return !column.right && !column.handle; }

    // Narrows text columns, the widest first: the first column down to `name`, the others down to `text`. Returns
    // whether the table fits; if it cannot, nothing changes.
    bool shrink(int name, int text) {
        int gain = 0, least = name;
        for (const Shown& column : columns_) {
            if (!is_text(column)) continue;
            gain += std::max(column.width - least, 0);
            least = text;
        }
        if (total() - gain > style_.width) return false;
        while (total() > style_.width) {
            --widest_text(name, text).width;
        }
        return true;
    }

    // The text column with the most cells above its least.
    Shown& widest_text(int name, int text) {
        Shown* widest = nullptr;
        int most = 0, least = name;
        for (Shown& column : columns_) {
            if (!is_text(column)) continue;
            if (column.width - least > most || widest == nullptr) {
                most = column.width - least;
                widest = &column;
            }
            least = text;
        }
        return *widest;
    }

    // Takes the least useful column out, a wanted one only if `any`; false when only what names the row and one figure are left.
    bool leave_out_one(bool any) {
        // The finer statistics and the launch shape say less than what follows from them.
        static constexpr std::string_view kFinerFirst[] = {"std_ns", "std",          "min_ns", "min",   "p50_ns",
                                                           "p50",    "shared_bytes", "grid",   "block", "registers",
                                                           "max_ns", "max",          "p95_ns"};
        std::size_t keep = columns_[0].handle ? 3 : 2;
        if (columns_.size() <= keep) return false;
        auto first = columns_.begin() + static_cast<std::ptrdiff_t>(keep);
        auto victim = std::find_if(first, columns_.end(), [](const Shown& column) { return column.empty; });
        for (std::string_view name : kFinerFirst)
            if (victim == columns_.end())
                victim = std::find_if(first, columns_.end(),
                                      [&](const Shown& c) { return table_.columns()[c.source].name == name; });
        if (victim == columns_.end()) {
            auto last = std::find_if(columns_.rbegin(), std::make_reverse_iterator(first),
                                     [&](const Shown& column) { return any || !is_wanted(column); });
            if (last == std::make_reverse_iterator(first)) return false;
            victim = last.base() - 1;
        }
        left_out_.push_back(victim->source);
        columns_.erase(victim);
        return true;
    }

    void write_lines(Sink& sink) const {
        Paint paint(style_.colour);
        std::string line;
        for (const Shown& column : columns_)
            append(line, shorten_middle(column.header, column.width, style_.unicode), column);
        sink.write(paint.dim(trimmed(line)) + "\n");
        for (std::size_t row = 0; row < rows_ && !sink.failed(); ++row) write_row(row, sink);
    }

    // A row has as many lines as its longest sentence needs.
    void write_row(std::size_t row, Sink& sink) const {
        std::vector<std::vector<std::string>> cells;
        std::size_t height = 1;
        for (const Shown& column : columns_) {
            std::string text = cell(row, column);
            if (column.prose)
                cells.push_back(wrap(text, column.width));
            else
                cells.push_back({shorten_name(text, column.width, style_.unicode)});
            height = std::max(height, cells.back().size());
        }
        for (std::size_t part = 0; part < height; ++part) {
            std::string line;
            for (std::size_t i = 0; i < columns_.size(); ++i)
                append(line, part < cells[i].size() ? cells[i][part] : std::string(), columns_[i]);
            sink.write(trimmed(line) + "\n");
        }
        for (const Shown& column : below_) {
            if (table_.cell(row, column.source).index() == 0) continue;
            std::string text = below_.size() > 1 ? column.header + ": " : "";
            for (const std::string& line : wrap(text + cell(row, column), style_.width - kIndentBelow))
                sink.write(std::string(kIndentBelow, ' ') + line + "\n");
        }
    }

    static constexpr int kIndentBelow = 4;
    static void append(std::string& line, const std::string& text, const Shown& column) {
        if (!line.empty()) line.append(kBetween, ' ');
        line += column.right ? pad_left(text, column.width) : pad_right(text, column.width);
        if (line.empty()) line = " ";  // a first cell without width still separates
    }

    static std::string trimmed(std::string line) {
        line.erase(line.find_last_not_of(' ') + 1);
        return line;
    }

    void write_left_out(Sink& sink) const {
        if (left_out_.empty()) return;
        std::vector<std::size_t> order = left_out_;
        std::sort(order.begin(), order.end());
        std::string names;
        for (std::size_t source : order)
            names += fmt::format("{}{}", names.empty() ? "" : ", ", table_.columns()[source].name);
        std::string text = fmt::format("too narrow for: {} (a wider terminal or --format csv has them)", names);
        for (const std::string& line : wrap(text, style_.width)) sink.write(Paint(style_.colour).dim(line) + "\n");
    }

    // A single row on its side: one line per column, with what each figure means where there is room.
    int label_width() const {
        int width = 0;
        for (const Shown& column : columns_) width = std::max(width, display_width(column.header));
        return width;
    }

    // Figures must fit; text is cut.
    int side_width() const {
        int room = style_.width - label_width() - kBetween;
        int width = 0;
        for (const Shown& column : columns_) {
            int wanted = display_width(cell(0, column));
            width = std::max(width, is_text(column) ? std::min(wanted, room) : wanted);
        }
        return width;
    }

    void write_on_its_side(Sink& sink) const {
        Paint paint(style_.colour);
        int labels = label_width(), figures = side_width();
        int room = style_.width - labels - figures - 2 * kBetween;
        for (const Shown& column : columns_) {
            std::string line = pad_right(shorten_name(cell(0, column), figures, style_.unicode), figures);
            if (room >= kMinDocWidth && !column.handle)
                line += "  " + paint.dim(shorten_middle(std::string(table_.columns()[column.source].doc), room,
                                                        style_.unicode));
            sink.write(trimmed(paint.dim(pad_right(column.header, labels)) + "  " + line) + "\n");
        }
    }

    const ResultTable& table_;
    const Style& style_;
    std::size_t rows_;
    std::size_t amounts_, units_;  // columns `value` and `unit`, which are shown as one; size() if it has none
    std::vector<Shown> columns_;
    std::vector<Shown> below_;  // sentences, each on lines of its own
    std::vector<std::size_t> left_out_;
};

void write_after(const ResultTable& table, const Style& style, Sink& sink) {
    Paint paint(style.colour);
    std::size_t hidden = table.total_rows() - shown_rows(table, style.limit);
    if (hidden > 0) {
        std::string_view mark = style.unicode ? "…" : "...";
        std::string count = readable_count(static_cast<std::int64_t>(hidden));
        sink.write(paint.dim(fmt::format("{} and {} more {} (--limit 0 shows all)", mark, count,
                                         hidden == 1 ? "row" : "rows")) +
                   "\n");
    }
    if (table.rows() == 0) sink.write(paint.dim("no rows") + "\n");
    write_notes(table, style, sink);
}

}  // namespace

std::string handle_of(const ResultTable& table, std::size_t row) {
    return fmt::format("{}-{}", table.handle_prefix, row + 1);
}

void write_notes(const ResultTable& table, const Style& style, Sink& sink) {
    Paint paint(style.colour);
    for (const std::string& note : table.notes) {
        std::vector<std::string> lines = wrap(printable(note), style.width - 6);
        for (std::size_t i = 0; i < lines.size(); ++i)
            sink.write((i == 0 ? paint.dim("note: ") : "      ") + lines[i] + "\n");
    }
}

void write_text_table(const ResultTable& table, const Style& style, Sink& sink) {
    if (table.rows() > 0) Layout(table, style).write(sink);
    write_after(table, style, sink);
}

}  // namespace gpuprof::report
