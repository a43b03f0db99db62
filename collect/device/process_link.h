// A process of our own that talks to a driver, as seen by the one that asked for it: start it, exchange packets with it, find
// out why it died, kill it. It is the program gpu-profile started with a hidden argument and two descriptors, a socket of
// packets and the page of the call mark (collect/device/call_mark.h). It has a session of its own, so that Ctrl-C does not
// end it before its results are asked for, and it ends with the socket.
// A link belongs to the process that made it: in a child made by fork() it is only closed, never spoken to.
#pragma once

#include <sys/types.h>
#include <memory>
#include <string>
#include <string_view>

#include "collect/device/call_mark.h"
#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/base/result.h"

namespace gpuprof {

// The descriptors of the started process.
inline constexpr int kLinkSocket = 3, kLinkMark = 4;

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
    // The next packet, of `most` bytes at most.
    Received receive(DurNs timeout, std::size_t most);
    bool send(std::string_view packet);
    // Ends the connection from another thread: receive() answers closed at once.
    void hang_up();

    pid_t owner() const { return owner_; }
    // The driver function that is running, or was when the process died; "" when none.
    std::string running_call() const;
    // How it ended, e.g. "was killed by signal 11 (Segmentation fault)"; waits a little for its end. "": it has not.
    std::string death();

private:
    ProcessLink() = default;
    pid_t owner_ = -1, pid_ = -1;
    int socket_ = -1;
    volatile CallMark* mark_ = nullptr;
    bool reaped_ = false;
};

// The gpu-profile program to start such processes with: GPUPROF_PROGRAM, else this very program, else the one beside the
// library that this code is in. "" when there is none.
std::string sampler_program();

// The started process's end. This names the process, and shows its driver calls to the one that asked (collect/device/call_mark.h).
void begin_link_end(const char* name);

bool send_packet(std::string_view packet);
// The next packet, of `most` bytes at most; "" when the other end is gone.
std::string receive_packet(std::size_t most);
// Whether there is a packet, or nobody left to send one, before `deadline` (CLOCK_MONOTONIC).
bool packet_before(TimeNs deadline);

}  // namespace gpuprof
