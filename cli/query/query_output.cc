#include "cli/query/query_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/program.h"
#include "core/base/text/csv.h"
#include "core/base/text/json_writer.h"
#include "core/base/text/shell_words.h"
#include "core/model/build/damage.h"
#include "present/report/paint.h"
#include "present/report/text_lines.h"

namespace gpuprof::inline cli {
namespace {

// A number as text that reads back as the same value; "" if absent or NaN, which JSON and CSV lack.
std::string number_text(const Cell& cell) {
    std::string out;
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) out = std::to_string(*integer);
    if (const auto* real = std::get_if<double>(&cell); real != nullptr && std::isfinite(*real)) append_real(out, *real);
    return out;
}

class CsvWriter final : public AnswerWriter {
public:
    explicit CsvWriter(Sink& sink) : sink_(sink) {}
    void begin(std::vector<std::string> columns) override {
        if (std::exchange(any_, true)) sink_.write("\n");
        std::vector<Cell> names(columns.begin(), columns.end());
        row(names);
    }
    void row(std::span<const Cell> cells) override {
        line_.clear();
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (i != 0) line_ += ',';
            append(cells[i]);
        }
        sink_.write(line_ += '\n');
    }
    void end(bool) override {}

private:
    void append(const Cell& cell) {
        const auto* text = std::get_if<std::string_view>(&cell);
        if (text == nullptr)
            line_ += number_text(cell);
        else if (text->empty())
            line_ += "\"\"";  // distinguishes an empty text from an absent value
        else
            append_csv_text(line_, *text);
    }
    Sink& sink_;
    std::string line_;
    bool any_ = false;
};

// The envelope of every JSON answer (present/report/json.cc). `row_count` follows the rows, because they are not counted
// before.
class JsonAnswers final : public AnswerWriter {
public:
    JsonAnswers(const Trace& trace, Sink& sink) : json_(sink, kMaxLineDepth) {
        json_.begin_object();
        if (std::string damage = damage_of(trace); !damage.empty()) json_.member("damaged", damage);
        json_.member("tool", "gpu-profile");
        json_.member("version", program_version());
        json_.member("schema", 1);
        json_.key("source");
        json_.begin_object();
        json_.member("file", plain_files(trace.origin().file));
        json_.member("importer", trace.origin().importer);
        json_.end_object();
        json_.key("tables");
        json_.begin_array();
    }
    void begin(std::vector<std::string> columns) override {
        rows_ = 0;
        json_.begin_object();
        json_.member("name", "query");
        json_.key("columns");
        json_.begin_array();
        for (const std::string& column : columns) {
            json_.begin_object();
            json_.member("name", column);
            json_.end_object();
        }
        json_.end_array();
        json_.key("rows");
        json_.begin_array();
    }
    void row(std::span<const Cell> cells) override {
        ++rows_;
        json_.begin_array();
        for (const Cell& cell : cells) write(cell);
        json_.end_array();
    }
    void end(bool more) override {
        json_.end_array();
        json_.member("row_count", rows_);
        json_.key("more");
        json_.boolean(more);
        json_.end_object();
    }
    void finish() override {
        json_.end_array();
        json_.end_object();
    }

private:
    static constexpr std::size_t kMaxLineDepth = 4;  // each row on its own line
    void write(const Cell& cell) {
        if (const auto* integer = std::get_if<std::int64_t>(&cell)) return json_.integer(*integer);
        if (const auto* real = std::get_if<double>(&cell)) return json_.real(*real);
        if (const auto* text = std::get_if<std::string_view>(&cell)) return json_.text(*text);
        json_.null();
    }
    JsonWriter json_;
    std::int64_t rows_ = 0;
};

// Columns as wide as their widest value among the first rows. Wider values in later rows are shortened like names.
class TextWriter final : public AnswerWriter {
public:
    TextWriter(const Style& style, Sink& sink) : style_(style), sink_(sink) {}
    void begin(std::vector<std::string> columns) override {
        if (std::exchange(any_, true)) sink_.write("\n");
        names_.clear();
        rows_.clear();
        widths_.clear();
        for (std::string& column : columns) names_.push_back(printable(column));
        numbers_.assign(names_.size(), true);
        count_ = 0;
    }
    void row(std::span<const Cell> cells) override {
        ++count_;
        std::vector<std::string> row;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const auto* text = std::get_if<std::string_view>(&cells[i]);
            std::string shown = text != nullptr ? printable(text->substr(0, kMaxTextBytes)) : number_text(cells[i]);
            if (text == nullptr && shown.empty()) shown = style_.unicode ? "–" : "-";
            if (widths_.empty() && text != nullptr) numbers_[i] = false;
            row.push_back(std::move(shown));
        }
        if (!widths_.empty()) return write(row);
        rows_.push_back(std::move(row));
        if (rows_.size() == kMeasuredRows) flush();
    }
    void end(bool more) override {
        flush();
        if (more) sink_.write(fmt::format("... only the first {} rows shown; --limit 0 shows all\n", count_));
    }

private:
    static constexpr std::size_t kMeasuredRows = 1000;  // rows that determine the widths
    static constexpr std::size_t kMaxTextBytes = 4096;  // bytes of a text that are considered
    static constexpr int kMinColumnWidth = 24;          // minimum width of a shortened column

    void flush() {
        if (!widths_.empty()) return;
        for (const std::string& name : names_) widths_.push_back(display_width(name));
        for (const std::vector<std::string>& row : rows_)
            for (std::size_t i = 0; i < row.size(); ++i) widths_[i] = std::max(widths_[i], display_width(row[i]));
        fit();
        if (names_.empty()) return;
        Paint paint(style_.colour);
        std::string header;
        for (std::size_t i = 0; i < names_.size(); ++i)
            header += fmt::format("{}{}", i == 0 ? "" : "  ", padded(names_[i], i));
        sink_.write(paint.bold(trimmed(header)) + "\n");
        for (const std::vector<std::string>& row : rows_) write(row);
        rows_.clear();
    }
    // Narrows the widest text column until the line fits, or until no column can be narrowed.
    void fit() {
        int total = -2;
        for (int width : widths_) total += width + 2;
        while (total > style_.width) {
            auto widest = std::max_element(widths_.begin(), widths_.end());
            if (*widest <= kMinColumnWidth) return;
            int less = std::min(total - style_.width, *widest - kMinColumnWidth);
            *widest -= less;
            total -= less;
        }
    }
    std::string padded(const std::string& text, std::size_t column) const {
        std::string cut = shorten_name(text, widths_[column], style_.unicode);
        return numbers_[column] ? pad_left(cut, widths_[column]) : pad_right(cut, widths_[column]);
    }
    static std::string trimmed(std::string line) {
        line.erase(line.find_last_not_of(' ') + 1);
        return line;
    }
    void write(const std::vector<std::string>& row) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format("{}{}", i == 0 ? "" : "  ", padded(row[i], i));
        sink_.write(trimmed(std::move(line)) + "\n");
    }

    Style style_;
    Sink& sink_;
    bool any_ = false;
    std::int64_t count_ = 0;
    std::vector<std::string> names_;
    std::vector<bool> numbers_;
    std::vector<std::vector<std::string>> rows_;
    std::vector<int> widths_;  // empty: still measuring
};

constexpr AnswerFormat kAnswerFormats[] = {
    {"text", 1000,
     [](const Trace&, const Style& style, Sink& sink) -> std::unique_ptr<AnswerWriter> {
         return std::make_unique<TextWriter>(style, sink);
     }},
    {"csv", 0,
     [](const Trace&, const Style&, Sink& sink) -> std::unique_ptr<AnswerWriter> {
         return std::make_unique<CsvWriter>(sink);
     }},
    {"json", 0, [](const Trace& trace, const Style&, Sink& sink) -> std::unique_ptr<AnswerWriter> {
         return std::make_unique<JsonAnswers>(trace, sink);
     }}};

}  // namespace

std::span<const AnswerFormat> answer_formats() { return kAnswerFormats; }

const AnswerFormat* find_answer_format(std::string_view name) {
    for (const AnswerFormat& format : kAnswerFormats)
        if (format.name == name) return &format;
    return nullptr;
}

}  // namespace gpuprof::cli
