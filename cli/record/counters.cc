// Hardware counters over time while a command is recorded, sampled by a process of their own.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "cli/output.h"
#include "cli/record/companions.h"
#include "collect/pm/counter_watch.h"

namespace gpuprof {
namespace {

// Said at once, not at the end: a run may last for days.
void remark(const std::string& sentence) { note("counters over time: " + sentence); }

class CounterSamples final : public Companion {
public:
    CounterSamples(SampleOption option, std::string program)
        : option_(std::move(option)), program_(std::move(program)) {}
    const char* name() const override { return "counters"; }

    // Starts sampling without waiting for it: the command begins as soon as without.
    Status prepare(const std::string& part) override {
        if (option_.counter_hz > kBusyCounterHz)
            remark(fmt::format("at {} Hz evaluating takes a core or more; what it cannot follow is counted as lost",
                               option_.counter_hz));
        part_ = part;
        watch_ = std::make_unique<pm::CounterWatch>(pm::CounterOptions{.part = part,
                                                                       .set = option_.counter_set,
                                                                       .program = program_,
                                                                       .interval = option_.counter_interval(),
                                                                       .remark = remark});
        return {};
    }

    void ask_to_stop() override {
        if (watch_) watch_->ask_to_stop();
    }

    Status stop() override {
        if (!watch_) return {};
        watch_->stop();
        if (watch_->lost() > 0)
            remark(fmt::format("{} of {} samples were lost; sample less often, or see the losses", watch_->lost(),
                               watch_->lost() + watch_->moments()));
        if (watch_->moments() + watch_->lost() == 0) unlink(part_.c_str());
        return {};
    }

private:
    SampleOption option_;
    std::string program_, part_;
    std::unique_ptr<pm::CounterWatch> watch_;
};

}  // namespace

std::unique_ptr<Companion> record_counters(const SampleOption& option, const std::string& program) {
    return std::make_unique<CounterSamples>(option, program);
}

}  // namespace gpuprof
