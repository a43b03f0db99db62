#include "io/importers/source/byte_stream.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <climits>
#include <new>

namespace gpuprof::inline importers {
namespace {

class ZstdBytes final : public ByteStream {
public:
    explicit ZstdBytes(std::unique_ptr<Source> compressed)
        : compressed_(std::move(compressed)), input_(ZSTD_DStreamInSize()), stream_(ZSTD_createDStream()) {
        if (stream_ == nullptr) throw std::bad_alloc();
    }
    ~ZstdBytes() override { ZSTD_freeDStream(stream_); }
    ZstdBytes(const ZstdBytes&) = delete;
    ZstdBytes& operator=(const ZstdBytes&) = delete;

    Result<std::size_t> read(char* into, std::size_t size) override {
        ZSTD_outBuffer out{into, size, 0};
        while (out.pos < size && !ended_) {
            if (in_.pos == in_.size && !holds_more_) {
                if (Status status = refill(); !status) return status.error();
                if (ended_) break;
            }
            // 0 = a frame is complete; then the input may end.
            std::size_t hint = ZSTD_decompressStream(stream_, &out, &in_);
            if (ZSTD_getErrorCode(hint) == ZSTD_error_memory_allocation)
                throw std::bad_alloc();  // the file is not damaged
            if (ZSTD_isError(hint) != 0) stop(true);
            within_frame_ = hint != 0;
            holds_more_ = within_frame_ && out.pos == out.size;
        }
        return out.pos;
    }
    bool damaged() const override { return damaged_; }
    std::uint64_t own_bytes() const override { return compressed_->own_bytes(); }

private:
    Status refill() {
        Result<std::size_t> got = compressed_->read(input_.data(), input_.size());
        if (!got) return got.error();
        in_ = {input_.data(), *got, 0};
        if (*got == 0) stop(within_frame_);
        return {};
    }
    void stop(bool damaged) {
        ended_ = true;
        damaged_ = damaged;
    }

    std::unique_ptr<Source> compressed_;
    PodVector<char> input_;
    ZSTD_DStream* stream_;
    ZSTD_inBuffer in_{nullptr, 0, 0};
    bool within_frame_ = true;
    bool holds_more_ = false;  // maybe: there was no room for all decompressed bytes
    bool ended_ = false, damaged_ = false;
};

}  // namespace

bool is_zstd(std::string_view head) { return head.starts_with("\x28\xB5\x2F\xFD"); }

std::unique_ptr<ByteStream> open_zstd(std::unique_ptr<Source> compressed) {
    return std::make_unique<ZstdBytes>(std::move(compressed));
}

namespace {

constexpr std::size_t kInputBytes = 256 * 1024;
constexpr int kGzipWindow = 15 + 16;  // largest window, gzip header expected

class GzipBytes final : public ByteStream {
public:
    explicit GzipBytes(std::unique_ptr<Source> compressed) : compressed_(std::move(compressed)), input_(kInputBytes) {
        int made = inflateInit2(&stream_, kGzipWindow);
        if (made == Z_MEM_ERROR) throw std::bad_alloc();
        ended_ = made != Z_OK;
        damaged_ = ended_;
    }
    ~GzipBytes() override { inflateEnd(&stream_); }
    GzipBytes(const GzipBytes&) = delete;
    GzipBytes& operator=(const GzipBytes&) = delete;

    Result<std::size_t> read(char* into, std::size_t size) override {
        std::size_t done = 0;
        while (done < size && !ended_) {
            // First without more input: the last read may have more output than there was room for.
            std::size_t got = inflate_into(into + done, size - done);
            done += got;
            if (got > 0 || stream_.avail_in > 0) continue;
            if (Status status = refill(); !status) return status.error();
        }
        return done;
    }
    bool damaged() const override { return damaged_; }
    std::uint64_t own_bytes() const override { return compressed_->own_bytes(); }

private:
    Status refill() {
        Result<std::size_t> got = compressed_->read(input_.data(), input_.size());
        if (!got) return got.error();
        stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
        stream_.avail_in = static_cast<uInt>(*got);
        if (*got == 0) stop(within_member_);
        return {};
    }

    std::size_t inflate_into(char* into, std::size_t size) {
        if (!within_member_ && !begin_member()) return 0;
        auto room = static_cast<uInt>(std::min<std::size_t>(size, UINT_MAX));
        stream_.next_out = reinterpret_cast<Bytef*>(into);
        stream_.avail_out = room;
        int result = inflate(&stream_, Z_NO_FLUSH);
        if (result == Z_MEM_ERROR) throw std::bad_alloc();  // the file is not damaged
        if (result == Z_STREAM_END) {
            within_member_ = false;
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
            stop(true);
        }
        return room - stream_.avail_out;
    }

    // Between members: skips padding; false if no member follows.
    bool begin_member() {
        while (stream_.avail_in > 0 && *stream_.next_in == 0) {
            ++stream_.next_in;
            --stream_.avail_in;
        }
        if (stream_.avail_in == 0) return false;
        within_member_ = inflateReset(&stream_) == Z_OK;
        return within_member_;
    }

    void stop(bool damaged) {
        ended_ = true;
        damaged_ = damaged;
    }

    std::unique_ptr<Source> compressed_;
    PodVector<char> input_;
    z_stream stream_{};
    bool within_member_ = true;
    bool ended_ = false, damaged_ = false;
};

}  // namespace

bool is_gzip(std::string_view head) { return head.starts_with("\x1F\x8B\x08"); }

std::unique_ptr<ByteStream> open_gzip(std::unique_ptr<Source> compressed) {
    return std::make_unique<GzipBytes>(std::move(compressed));
}

namespace {

class CappedBytes final : public ByteStream {
public:
    CappedBytes(std::unique_ptr<ByteStream> unpacked, std::string name, const ReadLimits& limits)
        : unpacked_(std::move(unpacked)), name_(std::move(name)), limits_(limits) {}

    Result<std::size_t> read(char* into, std::size_t size) override {
        Result<std::size_t> got = unpacked_->read(into, size);
        if (!got.ok()) return got;
        given_ += *got;
        if (given_ > limits_.by_size())
            return refuse(fmt::format("{} GiB", limits_.unpack_gib),
                          "raise the limit with --unpack-gib if you trust the file");
        if (given_ > limits_.by_ratio(own_bytes()))
            return refuse(fmt::format("{} times its compressed size", limits_.unpack_ratio),
                          "raise the limit with --unpack-ratio if you trust the file");
        return got;
    }
    bool damaged() const override { return unpacked_->damaged(); }
    std::uint64_t own_bytes() const override { return unpacked_->own_bytes(); }

private:
    Error refuse(std::string_view limit, std::string_view remedy) const {
        return {ExitCode::unreadable,
                fmt::format("cannot read {}: decompresses to more than {}; {}", name_, limit, remedy)};
    }

    std::unique_ptr<ByteStream> unpacked_;
    std::string name_;
    ReadLimits limits_;
    std::uint64_t given_ = 0;
};

}  // namespace

std::unique_ptr<ByteStream> cap_unpacked(std::unique_ptr<ByteStream> unpacked, const std::string& name,
                                         const ReadLimits& limits) {
    return std::make_unique<CappedBytes>(std::move(unpacked), name, limits);
}

}  // namespace gpuprof::importers
