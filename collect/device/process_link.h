// A helper process that talks to a driver, as seen by the process that started it: start it, exchange packets, find out
// why it died, kill it.
// It is the program gpu-profile, started with a hidden argument and two descriptors: a packet socket and the page of
// the running call (collect/device/running_call.h). It has its own session, so that Ctrl-C does not end it before its results
// are collected, and it ends with the socket.
// A link belongs to the process that created it: a forked child only closes it.
#pragma once

#include <sys/types.h>
#include <memory>
#include <string>
#include <string_view>

#include "collect/device/running_call.h"
#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/base/result.h"

namespace gpuprof::inline device {

// The descriptors of the started process.
inline constexpr int kLinkSocket = 3, kLinkRunningCall = 4;

class ProcessLink {
public:
    // Starts `program` (a gpu-profile) with `argument`.
    static Result<std::unique_ptr<ProcessLink>> open(const std::string& program, const char* argument);
    // Kills the process. Does not wait for one that the driver holds.
    ~ProcessLink();
    ProcessLink(const ProcessLink&) = delete;
    ProcessLink& operator=(const ProcessLink&) = delete;

    enum class Ending { none, timeout, closed };
    struct Received {
        std::string packet;
        Ending ending = Ending::none;  // why there is no packet
    };
    // The next packet, at most `most` bytes long.
    Received receive(DurNs timeout, std::size_t max_size);
    bool send(std::string_view packet);
    // Ends the connection from another thread: receive() returns closed at once.
    void hang_up();

    pid_t owner() const { return owner_; }
    // The driver function that is running, or was running at the process's death; "" if none.
    std::string running_call() const;
    // How it ended, such as "was killed by signal 11 (Segmentation fault)"; waits briefly. "": it has not ended.
    std::string exit_reason();

private:
    ProcessLink() = default;
    pid_t owner_ = -1, pid_ = -1;
    int socket_ = -1;
    volatile RunningCall* running_call_ = nullptr;
    bool reaped_ = false;
};

// The gpu-profile program for such processes: GPUPROF_PROGRAM, this program, or the one next to the library that
// contains this code. "" if there is none.
std::string sampler_program();

// The end in the started process. This names the process, and shows its driver calls to its creator
// (collect/device/running_call.h).
void begin_link_end(const char* name);

bool send_packet(std::string_view packet);
// The next packet, at most `most` bytes long; "" if the other end is closed.
std::string receive_packet(std::size_t max_size);
// Whether a packet is available, or the other end is closed, before `deadline` (CLOCK_MONOTONIC).
bool packet_before(TimeNs deadline);

}  // namespace gpuprof::device
