#include "io/importers/source/read_all.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/importers/source/memory_limit.h"

namespace gpuprof::inline importers {

Result<std::string> read_all(Source& source, std::size_t max_bytes, std::size_t padding) {
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    std::string bytes;
    constexpr std::size_t kGrowthFactor = 2;  // the text is in memory twice while it moves to a larger block
    MemoryLimit limit(source);
    const Error larger{
        ExitCode::unreadable,
        fmt::format("cannot read {}: larger than the limit of {} MiB for this format", source.name(), max_bytes >> 20)};
    if (source.plain_size() > max_bytes) return larger;
    bytes.reserve(source.plain_size() + padding + 1);
    for (;;) {
        std::size_t size = bytes.size();
        bytes.resize(size + kPiece);
        Result<std::size_t> got = source.read(bytes.data() + size, kPiece);
        if (!got.ok()) return got.error();
        bytes.resize(size + *got);
        if (bytes.size() > max_bytes) return larger;
        if (limit.is_below(kGrowthFactor * bytes.size())) return limit.error();
        if (*got == 0) break;
    }
    bytes.reserve(bytes.size() + padding);
    return bytes;
}

}  // namespace gpuprof::importers
