// The client side of a sampler process: a process link (collect/device/process_link.h) for the messages of
// collect/device/sampler_wire.h. Idle samplers are kept for the next region, because starting the driver's library can take a
// tenth of a second.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "collect/device/process_link.h"
#include "collect/device/sampler_wire.h"

namespace gpuprof::inline device {

class SamplerLink {
public:
    // Starts `program` (a gpu-profile), or reuses an idle one.
    static Result<std::unique_ptr<SamplerLink>> open(const std::string& program);

    using Ending = ProcessLink::Ending;
    struct Received {
        std::optional<Message> message;
        Ending ending = Ending::none;  // why there is no message
    };
    Received receive(DurNs timeout);
    bool send(const Message& message) { return process_->send(encode(message)); }
    void hang_up() { process_->hang_up(); }
    std::string running_call() const { return process_->running_call(); }
    std::string exit_reason() { return process_->exit_reason(); }

    // Returns an idle sampler to the pool of open().
    static void keep(std::unique_ptr<SamplerLink> link);

private:
    explicit SamplerLink(std::unique_ptr<ProcessLink> process) : process_(std::move(process)) {}
    std::unique_ptr<ProcessLink> process_;
};

}  // namespace gpuprof::device
