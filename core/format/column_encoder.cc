#include "core/format/column_encoder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "core/format/bytes.h"

namespace gpuprof::inline format {
namespace {

constexpr std::size_t kTrialRows = 16384;
constexpr std::size_t kMaxDistinct = 256;
constexpr std::size_t kStringsPerRow =
    64;  // with more strings, a table of all of them costs more than hashing the rows

int width_of(std::uint64_t largest) {
    int width = 1;
    while (width < 8 && largest >> (8 * width)) ++width;
    return width;
}

void append_planes(Planes& planes, const std::uint64_t* numbers, std::size_t rows, int width) {
    for (int plane = 0; plane < width; ++plane) {
        std::size_t at = planes.bytes.size();
        planes.bytes.resize(at + rows);
        char* out = planes.bytes.data() + at;
        for (std::size_t row = 0; row < rows; ++row) out[row] = static_cast<char>(numbers[row] >> (8 * plane));
        planes.ends.push_back(planes.bytes.size());
    }
}

// The column's values as 64-bit numbers; the values of absent rows do not matter.
template <class T>
void widen(const ColumnView& column, std::size_t first, std::vector<std::int64_t>& into) {
    const T* from = static_cast<const T*>(column.values) + first;
    for (std::size_t row = 0; row < into.size(); ++row)
        into[row] = static_cast<std::int64_t>(
            column.width != 0 ? static_cast<T>(packed_number(column.values, column.width, first + row)) : from[row]);
}

void append_validity(const ColumnView& column, std::size_t first, std::size_t rows, std::string& front) {
    if (column.validity == nullptr && column.type != ColumnType::Str) return put_u8(front, 0);
    bool all = true;
    std::string bits((rows + 7) / 8, '\0');
    for (std::size_t row = 0; row < rows; ++row) {
        bool present = column.has(first + row);
        all = all && present;
        if (present) bits[row / 8] = static_cast<char>(bits[row / 8] | 1 << (row % 8));
    }
    put_u8(front, all ? 0 : 1);
    if (!all) front += bits;
}

}  // namespace

void ColumnEncoder::read_numbers(const ColumnView& column, std::size_t first, std::size_t rows) {
    numbers_.resize(rows);
    switch (column.type) {
        case ColumnType::I32: widen<std::int32_t>(column, first, numbers_); break;
        case ColumnType::Str: widen<StringId>(column, first, numbers_); break;
        case ColumnType::F64:
            std::memcpy(numbers_.data(), static_cast<const double*>(column.values) + first, rows * 8);
            break;
        default: widen<std::int64_t>(column, first, numbers_);
    }
    if (column.validity == nullptr && column.type != ColumnType::Str) return;
    std::size_t present = 0;
    while (!column.has(first + present)) ++present;
    std::fill_n(numbers_.begin(), present, numbers_[present]);
    for (std::size_t row = present + 1; row < rows; ++row)
        if (!column.has(first + row)) numbers_[row] = numbers_[row - 1];
}

// Turns the string ids in numbers_ into indexes of dictionary_.
void ColumnEncoder::read_codes(const ColumnView& column, const StringPool& strings, std::size_t first,
                               std::size_t rows) {
    read_numbers(column, first, rows);
    dictionary_.clear();
    auto assign = [&](auto& code_of) {
        for (std::int64_t& number : numbers_) {
            std::uint32_t& code = code_of[static_cast<std::size_t>(number)];
            if (code == 0) {
                dictionary_.push_back(StringId{static_cast<std::uint32_t>(number)});
                code = static_cast<std::uint32_t>(dictionary_.size());
            }
            number = code - 1;
        }
    };
    if (rows < strings.size() / kStringsPerRow) {
        std::unordered_map<std::size_t, std::uint32_t> code_of;
        return assign(code_of);
    }
    if (code_of_.size() < strings.size()) code_of_.resize(strings.size(), 0);
    assign(code_of_);
    for (StringId id : dictionary_) code_of_[index_of(id)] = 0;
}

// Fills distinct_ and code_; false if there are too many values for a dictionary to pay off.
bool ColumnEncoder::find_distinct() {
    constexpr std::size_t kSlots = 1024;
    std::array<std::uint16_t, kSlots> slots{};  // index in distinct_ + 1
    distinct_.clear();
    code_.resize(numbers_.size());
    for (std::size_t row = 0; row < numbers_.size(); ++row) {
        std::size_t at = (static_cast<std::uint64_t>(numbers_[row]) * 0x9E3779B97F4A7C15u) >> 54;
        while (slots[at] != 0 && distinct_[slots[at] - 1u] != numbers_[row]) at = (at + 1) % kSlots;
        if (slots[at] == 0) {
            if (distinct_.size() == kMaxDistinct || distinct_.size() * 4 > numbers_.size()) return false;
            distinct_.push_back(numbers_[row]);
            slots[at] = static_cast<std::uint16_t>(distinct_.size());
        }
        code_[row] = static_cast<std::uint8_t>(slots[at] - 1);
    }
    return true;
}

// Fills coded_ with the first `rows` numbers as the encoding stores them.
void ColumnEncoder::make_numbers(const Choice& choice, std::size_t rows) {
    coded_.resize(rows);
    auto value = [&](std::size_t row) { return static_cast<std::uint64_t>(numbers_[row]); };
    auto delta = [&](std::size_t row) { return row == 0 ? 0 : value(row) - value(row - 1); };
    std::uint64_t base = 0;
    if (choice.encoding == Encoding::offset)
        base = static_cast<std::uint64_t>(ByteCursor(choice.parameter).signed_varint());
    auto fill = [&](auto&& number) {
        for (std::size_t row = 0; row < rows; ++row) coded_[row] = number(row);
    };
    switch (choice.encoding) {
        case Encoding::offset: return fill([&](std::size_t row) { return value(row) - base; });
        case Encoding::delta: return fill(delta);
        case Encoding::signed_delta:
            return fill([&](std::size_t row) { return zigzag(static_cast<std::int64_t>(delta(row))); });
        case Encoding::dictionary: return fill([&](std::size_t row) { return std::uint64_t{code_[row]}; });
        default: return fill(value);
    }
}

void ColumnEncoder::try_choice(Choice candidate, Choice& best, std::size_t& best_size) {
    std::size_t size = candidate.parameter.size();
    if (goal_ == EncodingGoal::narrowest) {
        size += numbers_.size() * static_cast<std::size_t>(candidate.width);
    } else {
        std::size_t rows = std::min(numbers_.size(), kTrialRows);
        make_numbers(candidate, rows);
        Planes planes;
        append_planes(planes, coded_.data(), rows, candidate.width);
        size += trial_.compress(planes.bytes, planes.ends).size();
    }
    if (size >= best_size) return;
    best_size = size;
    best = std::move(candidate);
}

ColumnEncoder::Choice ColumnEncoder::choose_numbers(ColumnType type) {
    auto [low, high] = std::minmax_element(numbers_.begin(), numbers_.end());
    std::uint64_t largest = 0, largest_signed = 0;
    bool rising = true;
    for (std::size_t row = 1; row < numbers_.size(); ++row) {
        auto delta = static_cast<std::uint64_t>(numbers_[row]) - static_cast<std::uint64_t>(numbers_[row - 1]);
        rising = rising && numbers_[row] >= numbers_[row - 1];
        largest = std::max(largest, delta);
        largest_signed = std::max(largest_signed, zigzag(static_cast<std::int64_t>(delta)));
    }
    std::string base, start;
    put_signed(base, *low);
    put_signed(start, numbers_.front());
    if (*low == *high) return {Encoding::constant, 0, base};
    if (type == ColumnType::F64) return {Encoding::plain, 8, {}};

    Choice best;
    std::size_t best_size = static_cast<std::size_t>(-1);
    std::uint64_t range = static_cast<std::uint64_t>(*high) - static_cast<std::uint64_t>(*low);
    try_choice({Encoding::offset, width_of(range), base}, best, best_size);
    if (rising)
        try_choice({Encoding::delta, width_of(largest), start}, best, best_size);
    else
        try_choice({Encoding::signed_delta, width_of(largest_signed), start}, best, best_size);
    if (range < 256 || !find_distinct()) return best;
    std::string entries;
    put_varint(entries, distinct_.size());
    for (std::int64_t entry : distinct_) put_signed(entries, entry);
    try_choice({Encoding::dictionary, 1, entries}, best, best_size);
    return best;
}

ColumnEncoder::Choice ColumnEncoder::choose_codes(const StringPool& strings) {
    Choice choice{Encoding::dictionary, width_of(dictionary_.size() - 1), {}};
    if (dictionary_.size() == 1)
        choice = {Encoding::constant, 0, {}};
    else
        put_varint(choice.parameter, dictionary_.size());
    for (StringId id : dictionary_) put_text(choice.parameter, strings[id]);
    return choice;
}

bool ColumnEncoder::encode(const ColumnView& column, const StringPool& strings, std::size_t first, std::size_t rows,
                           std::string& front, Planes& values) {
    bool any = false;
    for (std::size_t row = 0; row < rows && !any && column.values != nullptr; ++row) any = column.has(first + row);
    if (!any) return false;

    Choice choice;
    if (column.type == ColumnType::Str) {
        read_codes(column, strings, first, rows);
        choice = choose_codes(strings);
        coded_.assign(numbers_.begin(), numbers_.end());
    } else {
        read_numbers(column, first, rows);
        choice = choose_numbers(column.type);
        make_numbers(choice, choice.width == 0 ? 0 : rows);
    }
    put_text(front, column.name);
    put_u8(front, static_cast<std::uint8_t>(column.type));
    put_text(front, column.unit);
    append_validity(column, first, rows, front);
    put_u8(front, static_cast<std::uint8_t>(choice.encoding));
    put_u8(front, static_cast<std::uint8_t>(choice.width));
    put_text(front, choice.parameter);
    append_planes(values, coded_.data(), rows, choice.width);
    return true;
}

}  // namespace gpuprof::format
