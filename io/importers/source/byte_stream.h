// The building blocks of a Source: a ByteStream delivers bytes in order, once; PeekableSource adds access to the first
// 64 KiB of one. Decompressors are ByteStreams over ByteStreams.
#pragma once

#include "core/base/pod_vector.h"
#include "io/importers/source/source.h"

namespace gpuprof::inline importers {

class ByteStream {
public:
    virtual ~ByteStream() = default;
    // As Source::read.
    virtual Result<std::size_t> read(char* into, std::size_t size) = 0;
    virtual std::uint64_t plain_size() const { return 0; }
    virtual int plain_fd() const { return -1; }
    virtual bool damaged() const { return false; }
    virtual std::uint64_t own_bytes() const = 0;
};

class PeekableSource final : public Source {
public:
    static constexpr std::size_t kHeadBytes = 64 * 1024;

    PeekableSource(std::string name, std::unique_ptr<ByteStream> bytes, const ReadLimits& limits)
        : name_(std::move(name)), bytes_(std::move(bytes)), limits_(limits) {}

    // Reads the head; call it once, before anything else.
    Status fill();
    Result<std::size_t> read(char* into, std::size_t size) override;
    std::string_view head() override { return {head_.data(), head_.size()}; }
    const std::string& name() const override { return name_; }
    std::uint64_t plain_size() const override { return bytes_->plain_size(); }
    int plain_fd() const override { return bytes_->plain_fd(); }
    bool damaged() const override { return bytes_->damaged(); }
    std::uint64_t own_bytes() const override { return bytes_->own_bytes(); }
    const ReadLimits& limits() const override { return limits_; }

private:
    std::string name_;
    std::unique_ptr<ByteStream> bytes_;
    ReadLimits limits_;
    PodVector<char> head_;
    std::size_t taken_ = 0;  // bytes of the head already read
};

// A file, a pipe or standard input as it is.
Result<std::unique_ptr<ByteStream>> open_file_bytes(const std::string& file, const ReadLimits& limits);

// The output of a decompressor, up to the read limits: a file of a few megabytes can decompress to terabytes.
std::unique_ptr<ByteStream> cap_unpacked(std::unique_ptr<ByteStream> unpacked, const std::string& name,
                                         const ReadLimits& limits);

// Inflates gzip (RFC 1952) as a stream with any number of members. Delivers everything before damage or truncation,
// which damaged() reports. Zero padding after the last member is allowed, as gzip(1) allows it.
bool is_gzip(std::string_view head);
std::unique_ptr<ByteStream> open_gzip(std::unique_ptr<Source> compressed);

// Decompresses zstd (RFC 8878) as a stream with any number of frames. Delivers everything before damage or truncation,
// which damaged() reports. Skippable frames are skipped.
bool is_zstd(std::string_view head);
std::unique_ptr<ByteStream> open_zstd(std::unique_ptr<Source> compressed);

}  // namespace gpuprof::importers
