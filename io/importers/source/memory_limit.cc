#include "io/importers/source/memory_limit.h"

#include <fmt/format.h>

namespace gpuprof::inline importers {

std::uint64_t bytes_of(const Batch& batch) {
    constexpr std::uint64_t kBytesPerString = 32;  // its view and its slot
    std::uint64_t bytes = batch.strings.bytes() + batch.strings.size() * kBytesPerString;
    batch.tables.each_table([&](const TableSpec&, const auto& table) {
        table.each_column([&](const ColumnSpec&, const auto& column) { bytes += column.bytes(); });
    });
    return bytes;
}

Error MemoryLimit::error() const {
    return {ExitCode::unreadable, fmt::format("cannot read {}: its contents need more than {:.2f} GiB of memory; raise "
                                              "the limit with --memory-gib if you "
                                              "trust the file",
                                              source_.name(), static_cast<double>(bytes()) / ReadLimits::kGiB)};
}

}  // namespace gpuprof::importers
