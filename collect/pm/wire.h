// What the launcher and the counter sampler say to each other, a packet each (collect/device/process_link.h). Both are the
// same build; packets are checked all the same, because a broken driver may write over the sampler.
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
    std::string program;  // the command that is recorded
    DurNs interval = 0;
    std::vector<TimeNs> written_until;  // of an earlier sampler, by device; empty: there was none
};

struct CounterReport {
    enum class Phase : std::uint8_t { sampling, refused, finished };
    Phase phase = Phase::sampling;
    int code = 0;                      // ExitCode, when refused
    std::vector<std::string> remarks;  // new ones; the reason, when refused
    std::uint64_t moments = 0, lost = 0;
    std::vector<TimeNs> written_until;  // by device
};

inline constexpr std::string_view kStopPacket = "stop";
inline constexpr std::size_t kMostBytes = 64 * 1024;

std::string encode(const CounterRequest& request);
std::string encode(const CounterReport& report);
// Absent when the bytes are none of this build's.
std::optional<CounterRequest> decode_request(std::string_view packet);
std::optional<CounterReport> decode_report(std::string_view packet);

}  // namespace gpuprof::pm
