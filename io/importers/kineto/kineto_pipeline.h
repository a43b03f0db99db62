// Parses an input on several threads and delivers the pieces to one consumer in input order. Memory is bounded: only a
// few pieces are read ahead. Every piece but the first is parsed on the guess that it starts among the events; the
// consumer decides whether the guess was right.
#pragma once

#include <functional>

#include "io/importers/kineto/pieces.h"

namespace gpuprof::inline importers::kineto {

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
