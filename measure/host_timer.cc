#include "measure/timer.h"

#include <fmt/format.h>
#include <time.h>

#include <charconv>
#include <filesystem>
#include <fstream>

#include "core/base/clock.h"

namespace gpuprof::measure {
namespace {

// Short waits spin, because waking up takes 50 us.
void sleep_for(DurNs length) {
    constexpr DurNs kAwake = 20'000;
    if (length <= kAwake) {
        for (TimeNs end = monotonic_ns() + length; monotonic_ns() < end;) {
        }
        return;
    }
    timespec left{static_cast<time_t>(length / 1'000'000'000), static_cast<long>(length % 1'000'000'000)};
    nanosleep(&left, nullptr);
}

class HostTimer : public Timer {
public:
    explicit HostTimer(const HostClock& clock) : clock_(clock) {}

    std::string_view name() const override { return "host"; }
    const HostClock& clock() const override { return clock_; }
    std::int64_t max_batch(const Work& work) const override { return work.prepare != nullptr ? 1 : 1 << 20; }
    // A reading takes about 25 ns, less than a thousandth of a 100 us sample.
    DurNs min_sample_time() const override { return 100'000; }
    Status start() override { return {}; }
    Result<TimedSample> warm_up(const Work& work) override { return sample(work, 1); }
    Status set_up(const Work&, std::int64_t) override { return {}; }
    Result<TimedSample> sample(const Work& work, std::int64_t batch) override;
    std::int64_t usable_batch(std::int64_t batch) const override { return batch; }
    void finish() override {}
    std::vector<std::string> notes() const override { return {}; }
    bool flushes() const override { return false; }
    bool replays_graph() const override { return false; }
    bool blocks() const override { return false; }
    std::string device_name() const override { return ""; }
    std::int32_t device() const override { return -1; }
    std::optional<Hardware> hardware() const override { return std::nullopt; }
    Result<DeviceMemory> memory() override {
        return Error{ExitCode::empty, "the host timer has no device, so device memory is unknown"};
    }

private:
    HostClock clock_;
};

Result<TimedSample> HostTimer::sample(const Work& work, std::int64_t batch) {
    if (Status prepared = call(work, work.prepare); !prepared) return prepared.error();
    TimeNs begun = clock_.now();
    for (std::int64_t i = 0; i < batch; ++i)
        if (Status done = call(work, work.call); !done) return done.error();
    double per_call = static_cast<double>(clock_.now() - begun) / static_cast<double>(batch);
    return TimedSample{.ns = per_call, .host_ns = per_call};
}

}  // namespace

HostClock real_clock() { return {monotonic_ns, sleep_for}; }

Status call(const Work& work, Work::Function function) {
    if (function == nullptr) return {};
    if (int answer = function(work.user); answer != 0)
        return Error{ExitCode::empty, fmt::format("'{}' ended the benchmark: its {} returned {}", work.name,
                                                  function == work.call ? "call" : "preparation", answer)};
    return {};
}

std::map<std::int32_t, ThreadTime> thread_times() {
    std::map<std::int32_t, ThreadTime> times;
    std::error_code none;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", none)) {
        std::string number = thread.path().filename().string();
        std::int32_t id = 0;
        std::from_chars(number.data(), number.data() + number.size(), id);
        ThreadTime time;
        if (std::ifstream(thread.path() / "schedstat") >> time.run >> time.ready && time.run > 0) times[id] = time;
    }
    return times;
}

std::unique_ptr<Timer> make_host_timer(const HostClock& clock) { return std::make_unique<HostTimer>(clock); }

}  // namespace gpuprof::measure
