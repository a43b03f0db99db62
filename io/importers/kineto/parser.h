// The state machine over the bytes of a Chrome trace: header members, then events, then header members again.
// It works on a piece of the input, takes only whole items (one member, one event), and reports where it stopped, so a
// file can be cut anywhere as long as the rest is supplied again. Invalid parts are counted as losses, and reading
// continues at the next event.
//
// The state after a piece depends only on the state before it and on its bytes. So kineto.cc can parse pieces ahead of
// time, assuming that they begin with an event, and discard the result if they do not.
#pragma once

#include <cstdint>
#include <string_view>

#include "io/importers/kineto/block.h"

namespace gpuprof::inline importers::kineto {

// An item longer than this is given up, so that memory stays bounded whatever the input is.
inline constexpr std::size_t kMaxItem = std::size_t{64} << 20;

enum class State {
    start,   // nothing read
    header,  // among the members of the outermost object, or past the end of a bare array
    events,  // among the events, at an event, a separator or the end of the array
    after,   // past the outermost object
    lost,    // looking for the next event after something broken
};

// One piece of input: bytes that stand at `offset` of the (decompressed) input. kScanPadding bytes of 0xFF follow them.
struct Piece {
    const char* begin;
    const char* end;
    std::uint64_t offset;
    bool last;    // nothing follows
    char before;  // the last visible byte in front of it
};

// Parses the items of `piece` from `state` into `block` and updates `state`. Returns the number of consumed bytes; the
// rest is the start of an item that continues in the next piece. The last piece is consumed completely.
std::size_t parse_piece(std::string_view file, const Piece& piece, State& state, Block& block);

// Where to cut the bytes [begin, end): the last place that seems to begin an event, or `end` when none does.
const char* find_cut(const char* begin, const char* end);

}  // namespace gpuprof::importers::kineto
