#include "core/format/capture_part.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

#include "core/base/caught.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::inline format {
namespace {

const void* storage(ColumnType type, const void* wide, const void* narrow, const void* texts) {
    if (type == ColumnType::Str) return texts;
    return type == ColumnType::I32 ? narrow : wide;
}

}  // namespace

RowBuffer::RowBuffer(const TableSpec& spec) : spec_(spec), values_(spec.columns.size()) {}

RowBuffer& RowBuffer::add() {
    try {
        grow();
    } catch (const std::bad_alloc&) {
        cut();
        throw;
    }
    ++rows_;
    return *this;
}

void RowBuffer::grow() {
    for (std::size_t i = 0; i < values_.size(); ++i) {
        Values& values = values_[i];
        switch (spec_.columns[i].type) {
            case ColumnType::Str: values.texts.push_back(kNoString); break;
            case ColumnType::I32: values.narrow.push_back(0); break;
            default: values.wide.push_back(0); break;
        }
        if (rows_ % 64 == 0) values.present.push_back(0);
    }
}

// Every column as long as there are rows.
void RowBuffer::cut() noexcept {
    for (Values& values : values_) {
        if (values.wide.size() > rows_) values.wide.pop_back();
        if (values.narrow.size() > rows_) values.narrow.pop_back();
        if (values.texts.size() > rows_) values.texts.pop_back();
        if (values.present.size() > (rows_ + 63) / 64) values.present.pop_back();
    }
}

RowBuffer::Kind RowBuffer::kind_of(ColumnType type) {
    if (type == ColumnType::Str) return Kind::text;
    return type == ColumnType::F64 ? Kind::real : Kind::whole;
}

RowBuffer::Values& RowBuffer::column(std::string_view name, Kind kind) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
        const ColumnSpec& spec = spec_.columns[i];
        if (spec.name != name || kind_of(spec.type) != kind) continue;
        std::size_t row = rows_ - 1;
        values_[i].present[row / 64] |= std::uint64_t{1} << (row % 64);
        return values_[i];
    }
    std::abort();
}

RowBuffer& RowBuffer::set(std::string_view name, std::int64_t value) {
    Values& values = column(name, Kind::whole);
    if (values.wide.empty())
        values.narrow.back() = static_cast<std::int32_t>(value);
    else
        values.wide.back() = value;
    return *this;
}

RowBuffer& RowBuffer::set(std::string_view name, StringId text) {
    column(name, Kind::text).texts.back() = text;
    return *this;
}

RowBuffer& RowBuffer::set_real(std::string_view name, double value) {
    column(name, Kind::real).wide.back() = std::bit_cast<std::int64_t>(value);
    return *this;
}

Status RowBuffer::write(CaptureWriter& writer, const StringPool& strings) const {
    std::vector<ColumnView> columns;
    for (std::size_t i = 0; i < values_.size(); ++i) {
        const ColumnSpec& spec = spec_.columns[i];
        const Values& values = values_[i];
        columns.push_back({spec.name, spec.type, name_of(spec.unit),
                           storage(spec.type, values.wide.data(), values.narrow.data(), values.texts.data()),
                           values.present.data()});
    }
    return writer.write({spec_.name, rows_, columns}, strings);
}

void RowBuffer::clear() noexcept {
    rows_ = 0;
    for (Values& values : values_) {
        values.wide.clear();
        values.narrow.clear();
        values.texts.clear();
        values.present.clear();
    }
}

Result<std::unique_ptr<CapturePart>> CapturePart::open(const std::string& file, std::string_view tool, Publish named) {
    Result<FileSink> sink = FileSink::open(file, {.owner_only = true, .in_place = named == Publish::at_open});
    if (!sink.ok()) return sink.error();
    std::unique_ptr<CapturePart> part(new CapturePart(std::move(*sink), named == Publish::at_open));
    part->status_ = part->writer_.begin();
    part->add_fact(meta_key::kTool, tool);
    (void)part->flush();
    return part;
}

CapturePart::~CapturePart() {
    if (named_) (void)close();
}

void CapturePart::discard() noexcept {
    discarded_ += std::max<std::size_t>(waiting(), 1);
    for (auto& [name, rows] : tables_) rows.clear();
}

RowBuffer& CapturePart::table(std::string_view name) {
    for (auto& [known, rows] : tables_)
        if (known == name) return rows;
    const TableSpec& spec = table_spec(name);
    return tables_.emplace_back(spec.name, RowBuffer(spec)).second;
}

void CapturePart::add_fact(std::string_view key, std::string_view value) {
    table("meta").add().set("key", intern(key)).set("value", intern(value));
}

void CapturePart::add_loss(std::string_view kind, std::int64_t count, std::string_view place) {
    table("loss").add().set("kind", intern(kind)).set("count", count).set("place", intern(place));
}

void CapturePart::write(const TableView& rows) {
    if (status_ && rows.rows > 0) status_ = writer_.write(rows, strings_);
}

std::size_t CapturePart::waiting() const noexcept {
    std::size_t rows = 0;
    for (const auto& [name, buffer] : tables_) rows += buffer.rows();
    return rows;
}

Status CapturePart::flush() noexcept {
    Status written = caught([&] {
        for (auto& [name, rows] : tables_) {
            if (status_ && rows.rows() > 0) status_ = rows.write(writer_, strings_);
            rows.clear();
        }
        strings_.clear();
        file_.flush();
        if (file_.failed()) give_up(file_.close());
    });
    if (!written) fail(written);
    return status();
}

Status CapturePart::status() const noexcept {
    return caught([&] { return status_; });
}

void CapturePart::fail(const Status& reason) noexcept {
    discard();
    if (status_) status_ = caught([&] { return reason; });
}

Status CapturePart::publish() noexcept {
    write_discarded();
    if (!flush() || named_) return status();
    Status published = caught([&] {
        if (Status written = file_.publish(); !written)
            give_up(written);
        else
            named_ = true;
    });
    if (!published) fail(published);
    return status();
}

Status CapturePart::close() noexcept {
    if (closed_) return status();
    closed_ = true;
    write_discarded();
    (void)flush();
    Status ended = caught([&] {
        if (status_) status_ = writer_.end();
        if (status_ || file_.failed()) give_up(file_.close());
        if (!status_) give_up(status_);
    });
    if (!ended) fail(ended);
    return status();
}

void CapturePart::write_discarded() noexcept {
    if (discarded_ == 0) return;
    Status written =
        caught([&] { add_loss("recorder_loss", static_cast<std::int64_t>(discarded_), "rows: out of memory"); });
    if (written) discarded_ = 0;
}

// The file knows the cause of the failure better than the writer.
void CapturePart::give_up(const Status& file) {
    if (file || given_up_) return;
    given_up_ = true;
    std::string part = file_.keep_part();
    // A part that no message can name would only be in the way.
    Status noted = caught([&] {
        status_ = part.empty()
                      ? file
                      : Error{file.error().code, fmt::format("{}; everything written before the error is in {}, which "
                                                             "gpu-profile report can read",
                                                             file.error().message, part)};
    });
    if (!noted && !part.empty()) unlink(part.c_str());
}

}  // namespace gpuprof::format
