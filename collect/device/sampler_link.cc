#include "collect/device/sampler_link.h"

#include <unistd.h>

#include <mutex>
#include <vector>

#include "collect/device/sampler_process.h"

namespace gpuprof::inline device {
namespace {

constexpr std::size_t kMaxIdle = 4;

// Idle samplers of this process. Never destroyed: threads may still use it while the program ends.
struct IdleSamplers {
    std::mutex mutex;
    pid_t owner = getpid();
    std::vector<std::unique_ptr<SamplerLink>> links;
};
IdleSamplers& idle_samplers() {
    static IdleSamplers* idle = new IdleSamplers;
    // A forked child starts over: a thread that does not exist here may have held the parent's mutex.
    if (idle->owner != getpid()) idle = new IdleSamplers;
    return *idle;
}

}  // namespace

Result<std::unique_ptr<SamplerLink>> SamplerLink::open(const std::string& program) {
    {
        IdleSamplers& idle = idle_samplers();
        std::lock_guard lock(idle.mutex);
        if (!idle.links.empty()) {
            std::unique_ptr<SamplerLink> link = std::move(idle.links.back());
            idle.links.pop_back();
            return link;
        }
    }
    Result<std::unique_ptr<ProcessLink>> process = ProcessLink::open(program, kSamplerArgument);
    if (!process.ok()) return process.error();
    return std::unique_ptr<SamplerLink>(new SamplerLink(std::move(*process)));
}

SamplerLink::Received SamplerLink::receive(DurNs timeout) {
    ProcessLink::Received received = process_->receive(timeout, kMaxPacket);
    if (received.ending != Ending::none) return {.message = {}, .ending = received.ending};
    std::optional<Message> message = decode(received.packet);
    // Not a valid message: the sampler cannot be trusted any more.
    return {.message = message, .ending = message ? Ending::none : Ending::closed};
}

void SamplerLink::keep(std::unique_ptr<SamplerLink> link) {
    if (link->process_->owner() != getpid()) return;
    IdleSamplers& idle = idle_samplers();
    std::lock_guard lock(idle.mutex);
    if (idle.links.size() < kMaxIdle) idle.links.push_back(std::move(link));
}

}  // namespace gpuprof::device
