#include "io/importers/source/source.h"

#include <algorithm>
#include <cstring>

#include "io/importers/source/byte_stream.h"

namespace gpuprof::inline importers {
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

// Files one after the other.
class JoinedBytes final : public ByteStream {
public:
    JoinedBytes(std::vector<std::string> files, const ReadLimits& limits) : files_(std::move(files)), limits_(limits) {}
    Result<std::size_t> read(char* into, std::size_t size) override {
        std::size_t done = 0;
        while (done < size) {
            if (!current_) {
                if (next_ == files_.size()) break;
                Result<std::unique_ptr<ByteStream>> file = open_file_bytes(files_[next_++], limits_);
                if (!file) return file.error();
                current_ = std::move(*file);
            }
            Result<std::size_t> got = current_->read(into + done, size - done);
            if (!got) return got;
            done += *got;
            if (*got > 0) continue;
            finished_ += current_->own_bytes();
            current_.reset();
        }
        return done;
    }
    std::uint64_t own_bytes() const override { return finished_ + (current_ ? current_->own_bytes() : 0); }

private:
    std::vector<std::string> files_;
    ReadLimits limits_;
    std::size_t next_ = 0;
    std::unique_ptr<ByteStream> current_;
    std::uint64_t finished_ = 0;
};

// The source itself, or a decompressor before it if its first bytes require one. Its output is taken as it is: a file
// that was compressed twice is not decompressed twice.
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

Result<std::unique_ptr<Source>> join_files(std::vector<std::string> files, const ReadLimits& limits) {
    std::string name = files.front();
    auto joined = std::make_unique<PeekableSource>(std::move(name),
                                                   std::make_unique<JoinedBytes>(std::move(files), limits), limits);
    if (Status status = joined->fill(); !status) return status.error();
    return std::unique_ptr<Source>(std::move(joined));
}

Result<std::unique_ptr<Source>> memory_source(std::string name, std::string_view bytes, const ReadLimits& limits) {
    return decoded(std::make_unique<PeekableSource>(std::move(name), std::make_unique<MemoryBytes>(bytes), limits));
}

Status PeekableSource::fill() {
    head_.resize(kHeadBytes);
    Result<std::size_t> got = bytes_->read(head_.data(), kHeadBytes);
    if (!got) return got.error();
    head_.resize(*got);
    return {};
}

Result<std::size_t> PeekableSource::read(char* into, std::size_t size) {
    std::size_t from_head = std::min(size, head_.size() - taken_);
    if (from_head > 0) std::memcpy(into, head_.data() + taken_, from_head);
    taken_ += from_head;
    if (from_head == size) return size;
    Result<std::size_t> rest = bytes_->read(into + from_head, size - from_head);
    if (!rest) return rest;
    return from_head + *rest;
}

}  // namespace gpuprof::importers
