#include "measure/bench.h"

#include <fmt/format.h>

#include "core/base/text/close_match.h"
#include "measure/timer.h"

namespace gpuprof::measure {
namespace {

// The requested timer; `because` says why `auto` fell back to the host timer.
Result<std::unique_ptr<Timer>> open_timer(const BenchOptions& options, std::string& because) {
    if (options.timer == "host") return make_host_timer();
    if (options.timer != "auto" && options.timer != "cuda")
        return unknown_choice("timer", options.timer, {"auto", "cuda", "host"});
    Result<std::unique_ptr<Timer>> timer = make_cuda_timer(options.cuda);
    if (timer.ok() || options.timer == "cuda") return timer;
    because = "timed with the host clock: " + timer.error().message;
    return make_host_timer();
}

}  // namespace

Result<Bench> Bench::open(const BenchOptions& options) {
    Bench bench;
    bench.options_ = options.run;
    std::string because;
    Result<std::unique_ptr<Timer>> timer = open_timer(options, because);
    if (!timer.ok()) return timer.error();
    bench.timer_ = std::move(*timer);
    if (!because.empty()) bench.notes_.push_back(because);
    if (!options.device_state || bench.timer_->device() < 0) return bench;
    Result<ReadState> state = open_device_state(bench.timer_->device());
    if (state.ok())
        bench.state_ = std::move(*state);
    else
        bench.notes_.push_back("clocks and throttling are unknown: " + state.error().message);
    return bench;
}

Result<std::vector<Measurement>> Bench::run(std::span<const Work> works) {
    auto found = measure::run(works, *timer_, state_, options_);
    if (!found.ok()) return found;
    for (Measurement& measurement : *found)
        measurement.notes.insert(measurement.notes.begin(), notes_.begin(), notes_.end());
    return found;
}

}  // namespace gpuprof::measure
