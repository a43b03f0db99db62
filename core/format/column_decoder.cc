// Decodes byte planes to values: the loop that dominates opening a large capture. Each width has its own loop, so that
// the number of planes is a compile-time constant.
#include <bit>

#include "core/format/table_chunk.h"

namespace gpuprof::inline format {
namespace {

// Calls use(row, number) for every row, in order.
template <int Width, class Use>
void each_number(const std::uint8_t* planes, std::size_t rows, Use&& use) {
    for (std::size_t row = 0; row < rows; ++row) {
        std::uint64_t number = 0;
        for (int plane = 0; plane < Width; ++plane)
            number |= std::uint64_t{planes[static_cast<std::size_t>(plane) * rows + row]} << (8 * plane);
        use(row, number);
    }
}

template <class Use>
void each_number(const ChunkColumn& column, const char* values, std::size_t rows, Use&& use) {
    const auto* planes = reinterpret_cast<const std::uint8_t*>(values) + column.at;
    switch (column.width) {
        case 1: return each_number<1>(planes, rows, use);
        case 2: return each_number<2>(planes, rows, use);
        case 3: return each_number<3>(planes, rows, use);
        case 4: return each_number<4>(planes, rows, use);
        case 5: return each_number<5>(planes, rows, use);
        case 6: return each_number<6>(planes, rows, use);
        case 7: return each_number<7>(planes, rows, use);
        case 8: return each_number<8>(planes, rows, use);
        default: return;
    }
}

template <class T>
void clear_absent(const ChunkColumn& column, std::size_t rows, T* out) {
    for (std::size_t word = 0; word < column.validity.size(); ++word) {
        std::uint64_t absent = ~column.validity[word];
        for (; absent != 0; absent &= absent - 1) {
            std::size_t row = word * 64 + static_cast<std::size_t>(std::countr_zero(absent));
            if (row < rows) out[row] = T{};
        }
    }
}

template <class T>
void fill(T* out, std::size_t rows, T value) {
    for (std::size_t row = 0; row < rows; ++row) out[row] = value;
}

// `entry` is called only for indexes inside the dictionary.
template <class T, class Entry>
bool decode_dictionary(const ChunkColumn& column, const char* planes, std::size_t rows, std::size_t entries, T* out,
                       Entry&& entry) {
    std::uint64_t largest = 0;
    each_number(column, planes, rows, [&](std::size_t, std::uint64_t n) { largest = n > largest ? n : largest; });
    if (largest >= entries) return false;
    each_number(column, planes, rows, [&](std::size_t row, std::uint64_t n) { out[row] = entry(n); });
    return true;
}

template <class T>
bool decode_integers(const ChunkColumn& column, const char* planes, std::size_t rows, T* out) {
    auto value = static_cast<std::uint64_t>(column.base);
    bool sound = true;
    switch (column.encoding) {
        case Encoding::constant: fill(out, rows, static_cast<T>(column.base)); break;
        case Encoding::offset:
            each_number(column, planes, rows,
                        [&](std::size_t row, std::uint64_t n) { out[row] = static_cast<T>(value + n); });
            break;
        case Encoding::delta:
            each_number(column, planes, rows,
                        [&](std::size_t row, std::uint64_t n) { out[row] = static_cast<T>(value += n); });
            break;
        case Encoding::signed_delta:
            each_number(column, planes, rows, [&](std::size_t row, std::uint64_t n) {
                out[row] = static_cast<T>(value += (n >> 1) ^ (~(n & 1) + 1));
            });
            break;
        case Encoding::dictionary: {
            const std::int64_t* entries = column.numbers.data();
            sound = decode_dictionary(column, planes, rows, column.numbers.size(), out,
                                      [&](std::uint64_t n) { return static_cast<T>(entries[n]); });
            break;
        }
        case Encoding::plain: sound = false;
    }
    clear_absent(column, rows, out);
    return sound;
}

}  // namespace

bool decode_column(const ChunkColumn& column, const char* planes, std::size_t rows, std::int64_t* out) {
    return decode_integers(column, planes, rows, out);
}

bool decode_column(const ChunkColumn& column, const char* planes, std::size_t rows, std::int32_t* out) {
    return decode_integers(column, planes, rows, out);
}

bool decode_column(const ChunkColumn& column, const char* planes, std::size_t rows, double* out) {
    if (column.encoding == Encoding::constant) fill(out, rows, std::bit_cast<double>(column.base));
    each_number(column, planes, rows, [&](std::size_t row, std::uint64_t n) { out[row] = std::bit_cast<double>(n); });
    clear_absent(column, rows, out);
    return true;
}

bool decode_column(const ChunkColumn& column, const char* planes, std::size_t rows, const std::vector<StringId>& ids,
                   StringId* out) {
    bool sound = true;
    if (column.encoding == Encoding::constant)
        fill(out, rows, ids.front());
    else
        sound = decode_dictionary(column, planes, rows, ids.size(), out, [&](std::uint64_t n) { return ids[n]; });
    clear_absent(column, rows, out);
    return sound;
}

}  // namespace gpuprof::format
