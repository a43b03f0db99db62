#include "core/model/column.h"

#include <algorithm>
#include <cstring>
#include <mutex>

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
    valid_ = {};
    only_ = T{};
    skipped_ = blank_ = single_ = absent_ = true;
}

template <class T>
void Column<T>::pad(std::size_t rows) {
    if (rows <= size_) return;
    if (size_ == 0) {
        only_ = T{};
        blank_ = single_ = absent_ = true;
    }
    if (!blank_) {
        if (single_) spread();
        if (!absent_) begin_absence();
        values_.resize(rows, T{});
        valid_.resize((rows + 63) / 64, 0);
    }
    size_ = rows;
}

template <class T>
void Column<T>::spread() {
    values_.clear();
    values_.resize(size_, T(only_));
    if (blank_) valid_.resize((size_ + 63) / 64, 0);
    blank_ = single_ = false;
    spread_ = {};
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
    if (other.single_) return repeat(other.only_, other.size_);
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
    if (single_) spread();
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
        single_ = true;
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
    if (spread_.size() != size_ || spread_[0] != only_) {
        spread_.clear();
        spread_.resize(size_, T(only_));
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
    if (single_) return;
    PodVector<T> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = values_[order[i]];
    values_.swap(values);
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
