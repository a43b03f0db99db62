#include "core/model/column.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <type_traits>

namespace gpuprof::inline model {

template <class T>
Column<T>::Column() = default;
template <class T>
Column<T>::Column(const Column&) = default;
template <class T>
Column<T>::Column(Column&&) noexcept = default;
template <class T>
Column<T>& Column<T>::operator=(const Column&) = default;
template <class T>
Column<T>& Column<T>::operator=(Column&&) noexcept = default;
template <class T>
Column<T>::~Column() = default;

template <class T>
void Column<T>::skip() {
    values_ = {};
    packed_ = {};
    valid_ = {};
    only_ = T{};
    form_ = kSingle;
    skipped_ = blank_ = absent_ = true;
}

template <class T>
void Column<T>::pad(std::size_t rows) {
    if (rows <= size_) return;
    if (size_ == 0) {
        only_ = T{};
        form_ = kSingle;
        blank_ = absent_ = true;
    }
    if (!blank_) {
        if (form_ == kSingle) spread();
        if (!absent_) begin_absence();
        if (form_ != kWide) {
            packed_.resize(size_ * form_);
            packed_.resize(rows * form_ + kPackedTail, 0);
        } else {
            values_.resize(rows, T{});
        }
        valid_.resize((rows + 63) / 64, 0);
    }
    size_ = rows;
}

template <class T>
void Column<T>::spread() {
    values_.clear();
    values_.resize(size_);
    for (std::size_t row = 0; row < size_; ++row) values_[row] = (*this)[static_cast<Row>(row)];
    if (blank_) valid_.resize((size_ + 63) / 64, 0);
    blank_ = false;
    form_ = kWide;
    packed_ = {};
    spread_ = {};
}

template <class T>
void Column<T>::pack(std::uint8_t width, std::size_t expected) {
    if (size_ > 0 && form_ == kWide) return;
    if (form_ == kSingle && !blank_) width = std::max(width, width_of(only_));
    if (form_ != kSingle && form_ >= width) return;
    PodVector<unsigned char> packed;
    packed.reserve(std::max(size_, expected) * width + kPackedTail);
    packed.resize(size_ * width + kPackedTail, 0);
    for (std::size_t row = 0; row < size_ && !blank_; ++row) {
        T value = (*this)[static_cast<Row>(row)];
        std::memcpy(packed.data() + row * width, &value, std::min<std::size_t>(width, sizeof(T)));
    }
    if (blank_) valid_.resize((size_ + 63) / 64, 0);
    packed_.swap(packed);
    form_ = width;
    blank_ = false;
    spread_ = {};
}

template <class T>
void Column<T>::extend_packed(const std::uint64_t* validity, std::size_t n, std::uint8_t width, std::size_t expected) {
    if (n == 0 || skipped_) return pad(size_ + n);
    pack(width, expected);
    if (form_ == kWide) {
        values_.reserve(expected);
        return extend(validity, n);
    }
    if (validity != nullptr && !absent_) begin_absence();
    if (absent_) push_bits(validity, n);
    packed_.resize((size_ + n) * form_ + kPackedTail);
    size_ += n;
    spread_ = {};
}

namespace {

template <class Narrow, class T>
void write_as(unsigned char* out, const T* values, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        auto value = static_cast<Narrow>(values[i]);
        std::memcpy(out + i * sizeof(Narrow), &value, sizeof value);
    }
}

}  // namespace

template <class T>
bool Column<T>::write_packed(Row first, const T* values, std::size_t n) {
    if (n == 0) return true;
    if (form_ == kWide) {
        std::memcpy(static_cast<void*>(values_.data() + first), values, n * sizeof(T));
        return true;
    }
    if constexpr (!std::is_floating_point_v<T>) {
        std::uint64_t bits = 0;
        for (std::size_t i = 0; i < n; ++i) bits |= static_cast<std::make_unsigned_t<T>>(values[i]);
        unsigned char* out = packed_.data() + std::size_t{first} * form_;
        if ((bits & ~(~std::uint64_t{0} >> (64 - 8 * form_))) != 0) return false;
        switch (form_) {
            case 1: write_as<std::uint8_t>(out, values, n); break;
            case 2: write_as<std::uint16_t>(out, values, n); break;
            case 4: write_as<std::uint32_t>(out, values, n); break;
            case 8: write_as<std::uint64_t>(out, values, n); break;
            default:
                for (std::size_t i = 0; i < n; ++i) put(static_cast<Row>(first + i), values[i]);
        }
    }
    return true;
}

template <class T>
void Column<T>::narrow() {
    if constexpr (!std::is_floating_point_v<T>) {
        if (form_ != kWide || size_ == 0) return;
        std::uint64_t bits = 0;
        for (T value : values_) bits |= static_cast<std::make_unsigned_t<T>>(value);
        const std::size_t width = std::max<std::size_t>(1, (static_cast<std::size_t>(std::bit_width(bits)) + 7) / 8);
        if (width >= sizeof(T)) return;
        PodVector<unsigned char> packed(size_ * width + kPackedTail);
        unsigned char* to = packed.data();
        for (T value : values_) {  // each overwrites what is behind the one before
            auto number = static_cast<std::uint64_t>(value);
            std::memcpy(to, &number, sizeof number);
            to += width;
        }
        values_ = {};
        packed_.swap(packed);
        form_ = static_cast<std::uint8_t>(width);
    }
}

template <class T>
void Column<T>::begin_absence() {
    absent_ = true;
    valid_.resize((size_ + 63) / 64, ~std::uint64_t{0});
    if (size_ % 64 != 0) valid_.back() = (std::uint64_t{1} << (size_ % 64)) - 1;
}

template <class T>
void Column<T>::append(const Column& other) {
    if (other.blank_ || skipped_) return pad(size_ + other.size_);
    if (other.form_ == kSingle) return repeat(other.only_, other.size_);
    if (other.form_ != kWide && (size_ == 0 || width() != 0)) {
        std::size_t old = size_;
        extend_packed(other.validity(), other.size_, other.form_, 0);
        for (std::size_t row = 0; row < other.size_; ++row)
            put(static_cast<Row>(old + row), other[static_cast<Row>(row)]);
        return;
    }
    append(other.values(), other.validity(), other.size());
}

template <class T>
void Column<T>::append(const T* values, const std::uint64_t* validity, std::size_t n) {
    if (n == 0) return;
    if (skipped_) return pad(size_ + n);
    std::size_t old = size_;
    extend(validity, n);
    std::memcpy(static_cast<void*>(values_.data() + old), values, n * sizeof(T));
}

template <class T>
void Column<T>::extend(const std::uint64_t* validity, std::size_t n) {
    if (n == 0) return;
    if (skipped_) return pad(size_ + n);
    if (form_ != kWide) spread();
    if (validity != nullptr && !absent_) begin_absence();
    if (absent_) push_bits(validity, n);
    values_.resize(size_ + n);
    size_ += n;
}

template <class T>
void Column<T>::repeat(T value, std::size_t n) {
    if (n == 0) return;
    std::size_t old = size_;
    if (repeats(value)) {
        only_ = value;
        form_ = kSingle;
        size_ += n;
    } else {
        extend(nullptr, n);
        if (!skipped_) std::fill(values_.data() + old, values_.data() + old + n, value);
    }
}

template <class T>
const T* Column<T>::spread_values() const {
    if (size_ == 0) return nullptr;  // no row is left of those that had it
    static std::mutex mutex;
    std::lock_guard lock(mutex);
    if (spread_.size() != size_ || spread_[0] != (*this)[0]) {
        spread_.clear();
        spread_.resize(size_);
        for (std::size_t row = 0; row < size_; ++row) spread_[row] = (*this)[static_cast<Row>(row)];
    }
    return spread_.data();
}

template <class T>
void Column<T>::push_bits(const std::uint64_t* validity, std::size_t n) {
    valid_.resize((size_ + n + 63) / 64, 0);
    std::uint64_t* out = valid_.data() + size_ / 64;
    std::size_t shift = size_ % 64;
    for (std::size_t at = 0; at < n; at += 64, ++out) {
        std::uint64_t bits = validity == nullptr ? ~std::uint64_t{0} : validity[at / 64];
        if (n - at < 64) bits &= (std::uint64_t{1} << (n - at)) - 1;
        *out |= bits << shift;
        if (shift != 0 && bits >> (64 - shift) != 0) out[1] |= bits >> (64 - shift);
    }
}

template <class T>
void Column<T>::gather(const PodVector<Row>& order) {
    std::size_t n = order.size();
    size_ = n;
    spread_ = {};
    if (form_ == kSingle) return;
    if (form_ != kWide) {
        PodVector<unsigned char> packed(n * form_ + kPackedTail);
        for (std::size_t i = 0; i < n; ++i)
            std::memcpy(packed.data() + i * form_, packed_.data() + std::size_t{order[i]} * form_, form_);
        packed_.swap(packed);
    } else {
        PodVector<T> values(n);
        for (std::size_t i = 0; i < n; ++i) values[i] = values_[order[i]];
        values_.swap(values);
    }
    if (!absent_) return;
    PodVector<std::uint64_t> valid((n + 63) / 64, 0);
    for (std::size_t i = 0; i < n; ++i) {
        std::uint64_t bit = (valid_[order[i] / 64] >> (order[i] % 64)) & 1u;
        valid[i / 64] |= bit << (i % 64);
    }
    valid_.swap(valid);
}

template class Column<std::int64_t>;
template class Column<std::int32_t>;
template class Column<double>;
template class Column<StringId>;

}  // namespace gpuprof::model
