// Reads the chunks of a capture in order, from any input that can be read once. It returns only intact chunks: header
// and payload have the right checksums. After damage it continues at the next valid header, so that a flipped bit costs
// one chunk, and a truncated capture can be followed by another one. Gaps are counted: by sequence number where
// possible, otherwise as one. A part that stops within a chunk is cut; one whose last chunk is complete but not an end
// chunk is unended. Memory is that of the largest chunk; time is linear in the input, hostile input included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/pod_vector.h"
#include "core/base/result.h"
#include "core/format/chunk.h"

namespace gpuprof::inline format {

class ByteInput {
public:
    virtual ~ByteInput() = default;
    // Reads up to `size` bytes; fewer only at the end. 0 = end of input.
    virtual Result<std::size_t> read(char* into, std::size_t size) = 0;
};

struct RawChunk {
    ChunkHeader header;
    std::uint64_t offset = 0;  // of the header in the input
    PodVector<char> payload;

    std::string_view bytes() const { return {payload.data(), payload.size()}; }
};

class ChunkReader {
public:
    struct Gap {
        enum Kind { damaged, cut, unended } kind;
        std::uint64_t chunks;    // minimum number of missing chunks
        std::uint64_t offset;    // position in the input
        ChunkHeader after = {};  // the last whole chunk before it
    };

    explicit ChunkReader(ByteInput& input) : input_(input) {}

    // The next whole chunk; false at the end. An error is an error of the input.
    Result<bool> next(RawChunk& into);
    // Everything missing so far.
    const std::vector<Gap>& gaps() const { return gaps_; }
    std::uint64_t offset() const { return offset_; }

private:
    Status want(std::size_t bytes);
    Status find_header();
    std::string_view window() const { return {buffer_.data() + begin_, buffer_.size() - begin_}; }
    void skip(std::size_t bytes) {
        begin_ += bytes;
        offset_ += bytes;
    }
    void lose_from_here(std::uint64_t extent, bool cut);
    void lose(Gap gap);
    void count_missing_before(const ChunkHeader& found);
    void count_missing_at_end();
    void take(const ChunkHeader& header, RawChunk& into);

    ByteInput& input_;
    PodVector<char> buffer_;
    std::size_t begin_ = 0;     // start of the unconsumed bytes in the buffer
    std::uint64_t offset_ = 0;  // their position in the input
    bool at_end_ = false;       // the input has no more bytes than the buffer
    std::uint64_t wasted_ = 0;  // bytes of payloads whose checksum was wrong

    std::uint32_t expected_ = 0;  // sequence of the next chunk
    ChunkHeader last_{};          // the last whole chunk
    bool open_ = false;           // within a part that has not ended
    bool losing_ = false;         // bytes were skipped since the last whole chunk
    Gap lost_{};
    std::uint64_t lost_extent_ = 0;  // end of the expected chunk, by its header
    std::vector<Gap> gaps_;
};

}  // namespace gpuprof::format
