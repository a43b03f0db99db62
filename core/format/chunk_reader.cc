#include "core/format/chunk_reader.h"

#include <algorithm>
#include <cstring>

namespace gpuprof::inline format {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;
// A damaged payload is searched for chunks inside it (a truncated capture with another one after it). A hostile input
// could nest such payloads and be checked over and over; beyond this multiple of the bytes read, damaged payloads are
// skipped whole.
constexpr std::uint64_t kMaxRescanRatio = 16;
constexpr std::uint64_t kRescanFrom = std::uint64_t{16} << 20;

}  // namespace

// Makes `bytes` bytes available in window(), or all that remain. The buffer grows with the bytes received, not with the
// requested size.
Status ChunkReader::want(std::size_t bytes) {
    while (window().size() < bytes && !at_end_) {
        if (begin_ > 0 && begin_ >= window().size()) {
            std::size_t left = window().size();
            if (left > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, left);
            buffer_.resize(left);
            begin_ = 0;
        }
        std::size_t old = buffer_.size();
        buffer_.resize(old + kPiece);
        Result<std::size_t> got = input_.read(buffer_.data() + old, kPiece);
        buffer_.resize(old + (got ? *got : 0));
        if (!got) return got.error();
        at_end_ = *got == 0;
    }
    return {};
}

// Moves to the next valid header, or to the end.
Status ChunkReader::find_header() {
    while (true) {
        if (Status status = want(kPiece); !status) return status;
        if (window().empty() || decode_header(window())) return {};
        std::size_t at = window().find(kChunkMagic.front(), 1);
        skip(at == std::string_view::npos ? window().size() : at);
    }
}

void ChunkReader::lose_from_here(std::uint64_t extent, bool cut) {
    if (losing_) return;
    losing_ = true;
    lost_ = {cut ? Gap::cut : Gap::damaged, 1, offset_};
    lost_extent_ = extent;
}

void ChunkReader::lose(Gap gap) {
    gap.after = last_;
    gaps_.push_back(gap);
}

// Counts what is missing before the chunk found at offset_.
void ChunkReader::count_missing_before(const ChunkHeader& found) {
    bool new_part = found.sequence < expected_ || found.is(ChunkKind::begin) || !open_;
    std::uint64_t missing = new_part ? found.sequence : found.sequence - expected_;
    if (losing_) {
        lost_.kind = offset_ < lost_extent_ ? Gap::cut : Gap::damaged;
        lost_.chunks = std::max<std::uint64_t>(missing, 1);
        lose(lost_);
    } else {
        if (open_ && new_part) lose({Gap::unended, 1, offset_});
        if (missing > 0) lose({Gap::damaged, missing, offset_});
    }
    losing_ = false;
    open_ = !found.is(ChunkKind::end);
    expected_ = open_ ? found.sequence + 1 : 0;
    last_ = found;
}

void ChunkReader::count_missing_at_end() {
    if (losing_)
        lose(lost_);
    else if (open_)
        lose({Gap::unended, 1, offset_});
    losing_ = open_ = false;
}

void ChunkReader::take(const ChunkHeader& header, RawChunk& into) {
    into.header = header;
    into.offset = offset_;
    into.payload.clear();
    into.payload.append(window().data() + kChunkHeaderBytes, header.length);
    skip(kChunkHeaderBytes + header.length);
}

Result<bool> ChunkReader::next(RawChunk& into) {
    while (true) {
        if (Status status = want(kChunkHeaderBytes); !status) return status.error();
        if (window().empty()) {
            count_missing_at_end();
            return false;
        }
        std::optional<ChunkHeader> header = decode_header(window());
        if (!header) {
            bool cut = window().size() < kChunkHeaderBytes &&
                       kChunkMagic.substr(0, window().size()) == window().substr(0, kChunkMagic.size());
            lose_from_here(0, cut);
            skip(1);
            if (Status status = find_header(); !status) return status.error();
            continue;
        }
        std::size_t size = kChunkHeaderBytes + header->length;
        if (Status status = want(size); !status) return status.error();
        bool whole = window().size() >= size;
        if (whole && checksum(window().substr(kChunkHeaderBytes, header->length)) == header->payload_crc) {
            count_missing_before(*header);
            take(*header, into);
            return true;
        }
        lose_from_here(offset_ + size, !whole);
        wasted_ += whole ? header->length : 0;
        bool patient = wasted_ <= kMaxRescanRatio * (offset_ + kRescanFrom);
        skip(patient || !whole ? 1 : size);
        if (Status status = find_header(); !status) return status.error();
    }
}

}  // namespace gpuprof::format
