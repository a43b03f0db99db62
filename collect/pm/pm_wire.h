// The messages between the launcher and the counter sampler, one per packet (collect/device/process_link.h). Both ends
// are the same build; packets are checked anyway, because a broken driver may overwrite the sampler's memory.
//
//   launcher -> sampler   CounterRequest, then kStopPacket
//   sampler -> launcher   CounterReport ...; the one of phase refused or finished is the last
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"

namespace gpuprof::pm {

struct CounterRequest {
    std::string part;     // the capture to write
    std::string set;      // a name of sets.def
    std::string program;  // the recorded command
    DurNs interval = 0;
    std::vector<TimeNs> written_until;  // of an earlier sampler, by device; empty: there was none
};

struct CounterReport {
    enum class Phase : std::uint8_t { sampling, refused, finished };
    Phase phase = Phase::sampling;
    int code = 0;                      // ExitCode, when refused
    std::vector<std::string> remarks;  // new ones; if refused, the reason
    std::uint64_t sample_times = 0, lost = 0;
    std::vector<TimeNs> written_until;  // by device
};

inline constexpr std::string_view kStopPacket = "stop";
inline constexpr std::size_t kMaxBytes = 64 * 1024;

std::string encode(const CounterRequest& request);
std::string encode(const CounterReport& report);
// Absent if the bytes are not a packet of this build.
std::optional<CounterRequest> decode_request(std::string_view packet);
std::optional<CounterReport> decode_report(std::string_view packet);

}  // namespace gpuprof::pm
