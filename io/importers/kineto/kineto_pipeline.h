// Parses an input on several threads and delivers the pieces to one consumer in input order. Memory is bounded: only a
// few pieces are read ahead. Every piece but the first is parsed on the guess that it starts among the events; the
// consumer decides whether the guess was right.
#pragma once

#include <functional>

#include "core/base/pod_vector.h"
#include "io/importers/kineto/parser.h"
#include "io/importers/kineto/scan.h"
#include "io/importers/source/source.h"

namespace gpuprof::inline importers::kineto {

// Bytes followed by the padding that the scanner needs.
class PaddedBytes {
public:
    char* resize(std::size_t size) {
        bytes_.resize(size + kScanPadding);
        size_ = size;
        return bytes_.data();
    }
    // Creates the padding; call it after writing the bytes.
    void seal() { std::memset(bytes_.data() + size_, 0xFF, kScanPadding); }
    const char* begin() const { return bytes_.data(); }
    const char* end() const { return bytes_.data() + size_; }
    std::size_t size() const { return size_; }
    void append(const char* data, std::size_t n) {
        char* bytes = resize(size_ + n);
        if (n > 0) std::memcpy(bytes + size_ - n, data, n);
    }
    void drop_front(std::size_t n) {
        if (n < size_) std::memmove(bytes_.data(), bytes_.data() + n, size_ - n);
        size_ -= n;
    }

private:
    PodVector<char> bytes_;
    std::size_t size_ = 0;
};

// Reads an input in pieces of about the same size, cut where an event seems to start.
// Not thread-safe; the pipeline calls it under its lock.
class PieceReader {
public:
    PieceReader(Source& source, std::size_t piece_bytes) : source_(source), piece_bytes_(piece_bytes) {}

    struct Next {
        std::uint64_t offset = 0;
        bool last = false;
    };
    // Reads the next piece into `bytes`. Must not be called after the last one.
    Result<Next> read(PaddedBytes& bytes);

private:
    Source& source_;
    std::size_t piece_bytes_;
    std::uint64_t offset_ = 0;
    PodVector<char> carry_;  // already read, but part of the next piece
};

struct ParsedPiece {
    PaddedBytes bytes;
    std::uint64_t offset = 0;
    bool last = false;
    State before = State::start;  // the state in which parsing started
    State after = State::start;
    std::size_t used = 0;
    Block block;
};

// Number of parsing threads, and bytes per piece.
struct PipelineShape {
    unsigned workers;
    std::size_t piece_bytes;
};
// Smaller pieces if only some columns are read, so that they do not take more memory than the rows.
PipelineShape default_shape(const ColumnSelection& selected);

// Calls `consume` on the calling thread for each piece, in order. Fails if reading fails.
Status parse_all(Source& source, PipelineShape shape, const ColumnSelection& selected,
                 const std::function<void(ParsedPiece&)>& consume);

}  // namespace gpuprof::importers::kineto
