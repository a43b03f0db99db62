// Messages between the sampler process and its creator, one per packet of a SOCK_SEQPACKET socket. Both ends are the
// same build (the handshake compares them), so the encoding has no versions. Messages are checked anyway: a broken
// driver may overwrite the sampler's memory.
//
//   ask -> sampler   Start {request}   Stop {}
//   sampler -> ask   Opened {...}  or  Refused {sentence};   PollMessage {polled} ...;   Done {cost}
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "collect/device/device_source.h"

namespace gpuprof::inline device {

struct Start {
    SourceRequest request;
    DurNs warmup = 0;  // rare metrics are read again at its end
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
struct PollMessage {
    PollResult polled;
    bool ended = false;  // the source has ended for good
};
// The cost of sampling itself, and how punctual it was.
struct Done {
    std::uint64_t ticks = 0, missed = 0;  // missed: skipped because the previous tick took too long
    double late_p50_ms = 0, late_p99_ms = 0, late_max_ms = 0;
    double cpu_s = 0, wall_s = 0;  // of the sampler process, since Start
};

using Message = std::variant<Start, Stop, Opened, Refused, PollMessage, Done>;

// Maximum packet size; a longer polled is sent in parts.
inline constexpr std::size_t kMaxPacket = 128 * 1024;

std::string encode(const Message& message);
// Absent if the bytes are not a message of this build.
std::optional<Message> decode(std::string_view packet);

}  // namespace gpuprof::device
