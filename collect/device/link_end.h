// The started process's end of a process link (collect/device/process_link.h): what it needs to be one.
#pragma once

#include <string>
#include <string_view>

#include "core/base/ids.h"

namespace gpuprof {

// Names the process, and shows its driver calls to the one that asked (collect/device/call_mark.h).
void begin_link_end(const char* name);

bool send_packet(std::string_view packet);
// The next packet, of `most` bytes at most; "" when the other end is gone.
std::string receive_packet(std::size_t most);
// Whether there is a packet, or nobody left to send one, before `deadline` (CLOCK_MONOTONIC).
bool packet_before(TimeNs deadline);

}  // namespace gpuprof
