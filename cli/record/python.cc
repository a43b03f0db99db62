// Python stacks of the recorded command's processes, read beside it from their memory.
#include <fmt/format.h>
#include <unistd.h>

#include "cli/record/companions.h"
#include "collect/python/sampler.h"

namespace gpuprof {
namespace {

class PythonStacks final : public Companion {
public:
    PythonStacks(std::string mark, double hz) : mark_(std::move(mark)), hz_(hz) {}
    const char* name() const override { return "python"; }
    Status prepare(const std::string& part) override {
        Result<std::unique_ptr<python::StackSampler>> sampler = python::StackSampler::open(part, mark_, hz_);
        if (!sampler.ok()) return sampler.error();
        sampler_ = std::move(*sampler);
        return {};
    }
    void started(pid_t target) override { sampler_->start(target); }
    Status stop() override { return sampler_->stop(); }
    std::vector<std::string> remarks() const override {
        const python::SamplingCounts& counts = sampler_->counts();
        std::vector<std::string> remarks;
        if (counts.refused > 0)
            remarks.push_back(
                "Python stacks were not sampled: the system does not let this program read the command's memory; allow "
                "it "
                "with --cap-add SYS_PTRACE (container), or as the same user with kernel.yama.ptrace_scope at 0 or 1");
        if (counts.unsupported > 0)
            remarks.push_back(fmt::format("Python stacks were not sampled: CPython 3.{} is not one of 3.9 to 3.13",
                                          counts.unsupported));
        if (remarks.empty() && counts.processes == 0)
            remarks.push_back("Python stacks were not sampled: no CPython was seen in the command's processes");
        if (counts.missed * 20 > counts.ticks)
            remarks.push_back(
                fmt::format("{} of {} looks at Python stacks were left out: they would have cost over a "
                            "fifth of a processor; use a smaller --python",
                            counts.missed, counts.missed + counts.ticks));
        return remarks;
    }

private:
    std::string mark_;
    double hz_;
    std::unique_ptr<python::StackSampler> sampler_;
};

}  // namespace

std::unique_ptr<Companion> record_python(const std::string& folder, double hz) {
    return std::make_unique<PythonStacks>("GPUPROF_RECORD_DIR=" + folder, hz);
}

}  // namespace gpuprof
