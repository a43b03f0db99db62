// The asking side of a sampler process: start it, talk to it, find out why it died, kill it. Idle ones are kept for the
// next region, because starting the driver's library can cost a tenth of a second.
// The sampler gets a session of its own, so that Ctrl-C does not end it before the summary; it ends with the socket.
// A link belongs to the process that made it: in a child made by fork() it is only closed, never spoken to.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "collect/device/call_mark.h"
#include "collect/device/wire.h"

namespace gpuprof {

class SamplerLink {
public:
    // Starts `program` (a gpu-profile), or takes an idle one.
    static Result<std::unique_ptr<SamplerLink>> open(const std::string& program);
    // Kills the sampler unless keep() took it. Does not wait for a process that the driver holds.
    ~SamplerLink();
    SamplerLink(const SamplerLink&) = delete;
    SamplerLink& operator=(const SamplerLink&) = delete;

    enum class Ending { none, timeout, closed };
    struct Received {
        std::optional<Message> message;
        Ending ending = Ending::none;  // why there is no message
    };
    Received receive(DurNs timeout);
    bool send(const Message& message);
    // Ends the connection from another thread: receive() answers closed at once.
    void hang_up();

    // The driver function that is running, or was when the sampler died; "" when none.
    std::string running_call() const;
    // How the sampler ended, e.g. "was killed by signal 11 (Segmentation fault)"; waits a little for its end. "": it has not.
    std::string death();

    // Puts an idle sampler back for the next open().
    static void keep(std::unique_ptr<SamplerLink> link);

private:
    SamplerLink() = default;
    pid_t owner_ = -1, pid_ = -1;
    int socket_ = -1;
    volatile CallMark* mark_ = nullptr;
    bool reaped_ = false;
};

// The gpu-profile program to start samplers with: GPUPROF_PROGRAM, else this very program, else the one beside the
// library that this code is in. "" when there is none.
std::string sampler_program();

}  // namespace gpuprof
