#include "core/model/column.h"

#include <cstring>

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
    skipped_ = blank_ = absent_ = true;
}

template <class T>
void Column<T>::pad(std::size_t rows) {
    if (rows <= size_) return;
    if (size_ == 0) blank_ = absent_ = true;
    if (!blank_) {
        if (!absent_) begin_absence();
        values_.resize(rows, T{});
        valid_.resize((rows + 63) / 64, 0);
    }
    size_ = rows;
}

template <class T>
void Column<T>::materialize() {
    values_.resize(size_, T{});
    valid_.resize((size_ + 63) / 64, 0);
    blank_ = false;
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
    if (blank_) materialize();
    if (validity != nullptr && !absent_) begin_absence();
    if (absent_) push_bits(validity, n);
    values_.resize(size_ + n);
    size_ += n;
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
    if (blank_) return;
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
