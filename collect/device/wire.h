// Messages between the asking process and the sampler process, one per packet of a SOCK_SEQPACKET socket. Both ends are
// the same build (the handshake compares), so the encoding has no versions; it is checked all the same, because a
// sampler that a broken driver writes over may send anything.
//
//   ask -> sampler   Start {request}   Stop {}
//   sampler -> ask   Opened {...}  or  Refused {sentence};   HarvestBatch {harvest} ...;   Done {cost}
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "collect/device/source.h"

namespace gpuprof {

struct Start {
    SourceRequest request;
    DurNs warmup = 0;  // rare metrics are read again when it is over
};
struct Stop {};

struct Opened {
    std::string backend;
    bool immediate = false;
    std::vector<SampledDevice> devices;
    std::vector<std::string> notes;
};
struct Refused {
    int code = 0;  // ExitCode
    std::string sentence;
};
struct HarvestBatch {
    Harvest harvest;
    bool ended = false;  // the source has nothing more to say
};
// What sampling itself cost and how well it kept time.
struct Done {
    std::uint64_t ticks = 0, missed = 0;  // missed: skipped because the tick before took too long
    double late_p50_ms = 0, late_p99_ms = 0, late_max_ms = 0;
    double cpu_s = 0, wall_s = 0;  // of the sampler process, since Start
};

using Message = std::variant<Start, Stop, Opened, Refused, HarvestBatch, Done>;

// Packets are no longer than this; a harvest that would be is sent in parts.
inline constexpr std::size_t kMaxPacket = 128 * 1024;

std::string encode(const Message& message);
// Absent when the bytes are no message of this build.
std::optional<Message> decode(std::string_view packet);

}  // namespace gpuprof
