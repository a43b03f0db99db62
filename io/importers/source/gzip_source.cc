#include "io/importers/source/byte_stream.h"

#include <zlib.h>

#include <algorithm>
#include <climits>
#include <new>

namespace gpuprof::inline importers {
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

}  // namespace gpuprof::importers
