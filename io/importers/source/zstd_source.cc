#include "io/importers/source/byte_stream.h"

#include <zstd.h>
#include <zstd_errors.h>

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

}  // namespace gpuprof::importers
