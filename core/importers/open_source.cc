#include "core/importers/source.h"

#include <algorithm>
#include <cstring>

#include "core/importers/capped_bytes.h"
#include "core/importers/file_bytes.h"
#include "core/importers/gzip_source.h"
#include "core/importers/peekable.h"
#include "core/importers/zstd_source.h"

namespace gpuprof {
namespace {

class MemoryBytes final : public ByteStream {
public:
    explicit MemoryBytes(std::string_view text) : size_(text.size()), rest_(text) {}
    Result<std::size_t> read(char* into, std::size_t size) override {
        std::size_t n = std::min(size, rest_.size());
        if (n > 0) std::memcpy(into, rest_.data(), n);
        rest_.remove_prefix(n);
        return n;
    }
    std::uint64_t own_bytes() const override { return size_; }

private:
    std::uint64_t size_;
    std::string_view rest_;
};

// The source itself, or with a decompressor before it when its first bytes ask for one. What it gives is taken as it is: one that was
// compressed twice is not unpacked twice.
Result<std::unique_ptr<Source>> decoded(std::unique_ptr<PeekableSource> source) {
    if (Status status = source->fill(); !status) return status.error();
    std::string name = source->name();
    ReadLimits limits = source->limits();
    std::unique_ptr<ByteStream> bytes;
    if (is_gzip(source->head())) {
        bytes = open_gzip(std::move(source));
    } else if (is_zstd(source->head())) {
        bytes = open_zstd(std::move(source));
    } else {
        return std::unique_ptr<Source>(std::move(source));
    }
    bytes = cap_unpacked(std::move(bytes), name, limits);
    auto decompressed = std::make_unique<PeekableSource>(std::move(name), std::move(bytes), limits);
    if (Status status = decompressed->fill(); !status) return status.error();
    return std::unique_ptr<Source>(std::move(decompressed));
}

}  // namespace

Result<std::unique_ptr<Source>> open_source(const std::string& file, const ReadLimits& limits) {
    return open_source(file, file, limits);
}

Result<std::unique_ptr<Source>> open_source(const std::string& file, const std::string& name,
                                            const ReadLimits& limits) {
    Result<std::unique_ptr<ByteStream>> bytes = open_file_bytes(file, limits);
    if (!bytes) return bytes.error();
    return decoded(std::make_unique<PeekableSource>(name, std::move(*bytes), limits));
}

Result<std::unique_ptr<Source>> memory_source(std::string name, std::string_view bytes, const ReadLimits& limits) {
    return decoded(std::make_unique<PeekableSource>(std::move(name), std::make_unique<MemoryBytes>(bytes), limits));
}

}  // namespace gpuprof
