// CPU use of the recorded command's processes and threads, read beside it from /proc.
#include <fmt/format.h>

#include "cli/record/companions.h"
#include "collect/cpu/watch.h"
#include "core/base/readable.h"

namespace gpuprof {
namespace {

class Processors final : public Companion {
public:
    Processors(std::string mark, bool commands) : mark_(std::move(mark)), commands_(commands) {}
    const char* name() const override { return "processors"; }
    Status prepare(const std::string& part) override {
        Result<std::unique_ptr<ProcessWatch>> watch = ProcessWatch::open(part, mark_, commands_);
        if (!watch.ok()) return watch.error();
        watch_ = std::move(*watch);
        return {};
    }
    void started(pid_t target) override { watch_->start(target); }
    void ended() override { watch_->command_ended(); }
    Status stop() override { return watch_->stop(); }
    std::vector<std::string> remarks() const override {
        WatchCost cost = watch_->cost();
        if (cost.longest_wait_ns < 2 * ProcessWatch::kUsualWait) return {};
        return {
            fmt::format("CPU use was read only every {} at times: reading {} threads more often would have cost "
                        "over 1 % of a processor",
                        readable_duration(static_cast<double>(cost.longest_wait_ns)), cost.threads)};
    }

private:
    std::string mark_;
    bool commands_;
    std::unique_ptr<ProcessWatch> watch_;
};

}  // namespace

std::unique_ptr<Companion> record_processors(const std::string& folder, bool commands) {
    return std::make_unique<Processors>("GPUPROF_RECORD_DIR=" + folder, commands);
}

}  // namespace gpuprof
