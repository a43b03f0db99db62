// One column of a trace table: values of one type, each present or absent.
// A column without any value uses no memory; one without absent values has no validity bits; one that repeats a value from its first row
// on has it once. Of a capture, whole numbers and texts are packed: each takes as many bytes as the largest of them needs.
// Rows are filled in order: set(row, value) marks the rows it skips as absent.
// A skipped column takes rows but no values: all of them are absent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

#include "core/base/ids.h"
#include "core/base/packed_number.h"
#include "core/base/pod_vector.h"

namespace gpuprof::inline model {

template <class T>
class Column {
public:
    using value_type = T;

    // Not inline: traces have hundreds of columns, and many functions have traces.
    Column();
    Column(const Column&);
    Column(Column&&) noexcept;
    Column& operator=(const Column&);
    Column& operator=(Column&&) noexcept;
    ~Column();

    // Sets row `row`, which must be size() or later. In the middle of every reader's loop: always inline, however large the unit.
    [[gnu::always_inline]] void set(Row row, T value) {
        if (row != size_) pad(row);
        if (form_ != kWide) {
            if (skipped_) return void(++size_);
            spread();
        }
        if (absent_) push_bit(true);
        values_.push_back(value);
        ++size_;
    }
    // Replaces the value of a row that has one.
    void change(Row row, T value) {
        if (width() != 0 && width_of(value) <= form_) return put(row, value);
        if (form_ == kSingle && value == only_) return;
        if (form_ != kWide) spread();
        values_[row] = value;
    }
    // Drops all values, those of rows still to come too.
    void skip();
    bool is_skipped() const { return skipped_; }
    // Reserves space for `rows` rows in total, so that filling them moves nothing.
    void reserve(std::size_t rows) {
        if (!skipped_) values_.reserve(rows);
    }
    // Marks rows size() .. rows-1 absent.
    void pad(std::size_t rows);

    // Removes all rows; memory is kept for the next ones.
    void clear() {
        values_.clear();
        packed_.clear();
        valid_.clear();
        size_ = 0;
        only_ = T{};
        absent_ = blank_ = skipped_;
        form_ = skipped_ ? kSingle : kWide;
    }

    std::size_t size() const { return size_; }
    bool has(Row row) const {
        check_index(row, size_);
        return !absent_ || (!blank_ && ((valid_[row / 64] >> (row % 64)) & 1u));
    }
    // The value; T{} if absent. Ask has() first where that matters.
    [[gnu::always_inline]] T operator[](Row row) const {
        check_index(row, size_);
        if (form_ == kWide) return values_[row];
        return form_ == kSingle ? only_ : static_cast<T>(packed_number(packed_.data(), form_, row));
    }
    T value_or(Row row, T other) const { return has(row) ? (*this)[row] : other; }
    std::optional<T> get(Row row) const { return has(row) ? std::optional<T>((*this)[row]) : std::nullopt; }
    bool all_present() const { return !absent_; }
    // The first row whose value is at least `value`, or size(); of a column that ascends and lacks no value.
    Row lower_bound(T value) const {
        Row first = 0;
        for (auto end = static_cast<Row>(size_); first < end;) {
            Row middle = first + (end - first) / 2;
            if ((*this)[middle] < value)
                first = middle + 1;
            else
                end = middle;
        }
        return first;
    }
    // No row has a value; then values() is null.
    bool none_present() const { return blank_ || size_ == 0; }

    // Raw storage for bulk work: size() values (null if all are absent), and validity bits (null = all present).
    // A column that holds less than that makes a copy, which it keeps; raw() needs none.
    const T* values() const { return form_ != kWide && !blank_ ? spread_values() : values_.data(); }
    T* mutable_values() {
        if (form_ != kWide && !blank_) spread();
        return values_.data();
    }
    // values(), or unsigned numbers of width() bytes if that is not 0.
    const void* raw() const { return width() != 0 ? static_cast<const void*>(packed_.data()) : values(); }
    std::uint8_t width() const { return form_ == kSingle ? kWide : form_; }
    const std::uint64_t* validity() const { return absent_ ? valid_.data() : nullptr; }

    // Appends every row of `other`.
    void append(const Column& other);
    // Appends n rows from raw storage; validity null = all present.
    void append(const T* values, const std::uint64_t* validity, std::size_t n);
    // Appends n rows whose values the caller writes to mutable_values() before anyone reads them; T{} if absent.
    void extend(const std::uint64_t* validity, std::size_t n);
    // Appends n rows of `width` bytes each at least, for write_packed(). Not to a column of real numbers.
    void extend_packed(const std::uint64_t* validity, std::size_t n, std::uint8_t width, std::size_t expected);
    // Writes n of these rows; false if one of them needs more bytes. Several threads may write different rows.
    bool write_packed(Row first, const T* values, std::size_t n);
    // Packs the values into as few bytes as the largest needs, if that is less. Not those of real numbers.
    void narrow();
    // How many bytes a packed value needs: 1, 2, 4 or 8.
    static std::uint8_t width_of(T value) {
        if constexpr (std::is_floating_point_v<T>) {
            return 8;
        } else {
            std::uint64_t number = static_cast<std::make_unsigned_t<T>>(value);
            if (number >> 16 == 0) return number >> 8 == 0 ? 1 : 2;
            return number >> 32 == 0 ? 4 : 8;
        }
    }
    // Appends n rows with one value. Of numbers and texts only: zeros of both signs are equal.
    void repeat(T value, std::size_t n);
    // Whether repeat() of this value would store nothing but the number of rows.
    bool repeats(T value) const { return !absent_ && (size_ == 0 || (form_ == kSingle && only_ == value)); }
    // Row i becomes the old row order[i]; rows not named are dropped.
    void gather(const PodVector<Row>& order);
    std::size_t bytes() const { return values_.size() * sizeof(T) + packed_.size() + valid_.size() * 8; }

private:
    // Stores a value for each row.
    void spread();
    const T* spread_values() const;
    void begin_absence();
    // Appends the validity bits of rows size_ .. size_+n-1, a word at a time; null = all present.
    void push_bits(const std::uint64_t* validity, std::size_t n);
    // Appends the validity bit of row size_.
    [[gnu::always_inline]] void push_bit(bool on) {
        if (size_ / 64 >= valid_.size()) valid_.resize(size_ / 64 + 1, 0);
        if (on) valid_[size_ / 64] |= std::uint64_t{1} << (size_ % 64);
    }

    void put(Row row, T value) {
        std::memcpy(packed_.data() + std::size_t{row} * form_, &value, std::min<std::size_t>(form_, sizeof(T)));
        if (!spread_.empty()) spread_ = {};
    }
    // Packs all values into `width` bytes each, if they take less now.
    void pack(std::uint8_t width, std::size_t expected);

    PodVector<T> values_;
    PodVector<unsigned char> packed_;
    PodVector<std::uint64_t> valid_;
    mutable PodVector<T> spread_;  // of a repeated or packed value, once someone asked for values()
    std::size_t size_ = 0;
    T only_{};
    // How values are stored: in values_, only_ for every row, or else packed_: then the number of bytes of each.
    static constexpr std::uint8_t kWide = 0, kSingle = 0xFF;
    std::uint8_t form_ = kWide;
    bool absent_ = false;  // some row is absent
    bool blank_ = false;   // every row is absent, and form_ is kSingle
    bool skipped_ = false;
};

extern template class Column<std::int64_t>;
extern template class Column<std::int32_t>;
extern template class Column<double>;
extern template class Column<StringId>;

}  // namespace gpuprof::model
