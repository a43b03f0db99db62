#include "collect/device/sampler_process.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "collect/device/process_link.h"
#include "collect/device/sampler_wire.h"
#include "core/base/clock.h"
#include "core/base/ids.h"

namespace gpuprof::inline device {
namespace {

// How late the ticks of a loop were, in constant memory: counts in steps of 10 us up to 20 ms, and the maximum.

class Lateness {
public:
    void add(DurNs late) {
        late = std::max<DurNs>(late, 0);
        ++counts_[static_cast<std::size_t>(std::min<DurNs>(late / kStep, kSteps - 1))];
        ++count_;
        max_ = std::max(max_, late);
    }
    std::uint64_t count() const { return count_; }
    double max_ms() const { return static_cast<double>(max_) / 1e6; }
    // The p-th percentile in ms, rounded up to a step; the maximum if it lies beyond the last step. 0 without ticks.
    double percentile_ms(double p) const {
        auto wanted = static_cast<double>(count_) * p / 100;
        std::uint64_t below = 0;
        for (std::size_t step = 0; step + 1 < counts_.size(); ++step) {
            below += counts_[step];
            if (count_ > 0 && static_cast<double>(below) >= wanted)
                return std::min(static_cast<double>((static_cast<DurNs>(step) + 1) * kStep) / 1e6, max_ms());
        }
        return max_ms();
    }

private:
    static constexpr DurNs kStep = 10'000, kSteps = 2001;
    std::array<std::uint32_t, kSteps> counts_{};
    std::uint64_t count_ = 0;
    DurNs max_ = 0;
};

constexpr DurNs kSendInterval = 100 * kMillisecond;
constexpr std::size_t kSendReadings = 256;

bool send_message(const Message& message) { return send_packet(encode(message)); }

// The next message; absent at the end of the socket.
std::optional<Message> receive_message() { return decode(receive_packet(kMaxPacket)); }

double cpu_seconds() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Which metrics a tick reads.
class Schedule {
public:
    Schedule(DurNs interval, TimeNs warm)
        : gpm_every_(std::max(interval, 250 * kMillisecond)), slack_(interval / 2), warm_(warm) {}
    MetricSet due(TimeNs now, bool last) {
        MetricSet due = MetricSet::of(Cadence::fast);
        bool warm_now = warm_ != 0 && now >= warm_;
        if (warm_now) warm_ = 0;
        if (last || warm_now || now >= rare_) {
            due = due | MetricSet::of(Cadence::rare);
            rare_ = now + 10 * kSecond;
        }
        if (now + slack_ >= slow_) {
            due = due | MetricSet::of(Cadence::slow);
            slow_ = now + kSecond;
        }
        if (now + slack_ >= gpm_) {
            due = due | MetricSet::of(Cadence::gpm);
            gpm_ = now + gpm_every_;
        }
        return due;
    }

private:
    DurNs gpm_every_;
    DurNs slack_;  // a tick that is slightly early for a slower metric reads it anyway
    TimeNs warm_;  // end of the warm-up; 0 afterwards
    TimeNs slow_ = 0, rare_ = 0, gpm_ = 0;
};

// Extra reads of the energy counter at the beginning of a region, until it has changed several times: its difference
// over the region is useful only if its update interval is known (collect/device/energy.h). A read takes milliseconds,
// so the wait before the next one is at least four times as long as the last read.
class EnergyProbe {
public:
    explicit EnergyProbe(TimeNs from) : next_(from + kInterval), over_(from + 2 * kSecond) {}
    // INT64_MAX when finished
    TimeNs next() const { return next_; }
    void read(DeviceSource& source, PollResult& to) {
        TimeNs begun = monotonic_ns();
        PollResult read;
        source.collect({Metric::energy}, read);
        bool answered = false;
        for (const Reading& reading : read.readings) {
            answered |= reading.present.has(Metric::energy);
            see(reading);
            // A source with its own pace delivers complete readings.
            (reading.present.has(Metric::util_gpu) ? to.readings : to.energy).push_back(reading);
        }
        to.processes.insert(to.processes.end(), read.processes.begin(), read.processes.end());
        to.faults.insert(to.faults.end(), read.faults.begin(), read.faults.end());
        TimeNs now = monotonic_ns();
        bool enough = changes_ > kChanges || now >= over_ || !answered;
        next_ = enough ? INT64_MAX : now + std::max(kInterval, 4 * (now - begun));
    }

private:
    static constexpr DurNs kInterval = 20 * kMillisecond;
    static constexpr int kChanges = 3;
    // Of the first device that responds: the devices of a machine are usually alike.
    void see(const Reading& reading) {
        std::optional<double> joules = reading.get(Metric::energy);
        if (!joules || (device_ >= 0 && reading.device != device_)) return;
        device_ = reading.device;
        changes_ += last_ && *joules != *last_;
        last_ = joules;
    }

    TimeNs next_, over_;
    std::int32_t device_ = -1;
    std::optional<double> last_;
    int changes_ = 0;
};

// One region: from Start to Stop.
class Region {
public:
    Region(DeviceSource& source, const Start& start)
        : source_(source),
          interval_(start.request.interval),
          schedule_(interval_, start.warmup > 0 ? monotonic_ns() + start.warmup : 0),
          probe_(monotonic_ns() + start.warmup) {}

    // False if the socket has ended.
    bool run() {
        double cpu = cpu_seconds();
        TimeNs begun = monotonic_ns(), next = begun;
        if (!tick(false) || !flush()) return false;
        while (!packet_before(std::min(next + interval_, probe_.next()))) {
            if (monotonic_ns() < next + interval_) {
                probe_.read(source_, batch_.polled);
                continue;
            }
            next += interval_;
            TimeNs now = monotonic_ns();
            lateness_.add(now - next);
            // Skips overdue ticks, so that the next one is on time again.
            auto over = (now - next) / interval_;
            missed_ += static_cast<std::uint64_t>(over);
            next += over * interval_;
            if (!tick(false)) return false;
        }
        std::optional<Message> message = receive_message();
        if (!message || !std::holds_alternative<Stop>(*message)) return false;
        if (!tick(true) || !flush()) return false;
        return send_message(Done{lateness_.count() + 1, missed_, lateness_.percentile_ms(50),
                                 lateness_.percentile_ms(99), lateness_.max_ms(), cpu_seconds() - cpu,
                                 static_cast<double>(monotonic_ns() - begun) / 1e9});
    }

private:
    // Reports the end of a recording once, immediately.
    bool tick(bool last) {
        TimeNs now = monotonic_ns();
        source_.collect(schedule_.due(now, last), batch_.polled);
        bool end_is_news = source_.ended() && !said_end_;
        said_end_ |= end_is_news;
        batch_.ended = end_is_news;
        if (end_is_news || now - sent_ >= kSendInterval || batch_.polled.readings.size() >= kSendReadings ||
            !batch_.polled.faults.empty())
            return flush();
        return true;
    }

    // In parts that fit into a packet.
    bool flush() {
        sent_ = monotonic_ns();
        PollResult& all = batch_.polled;
        for (std::size_t begin = 0; begin < all.readings.size(); begin += kSendReadings) {
            std::size_t end = std::min(begin + kSendReadings, all.readings.size());
            PollMessage part;
            part.polled.energy.swap(all.energy);  // with the first part, so that it can be sorted
            part.polled.readings.assign(all.readings.begin() + static_cast<std::ptrdiff_t>(begin),
                                        all.readings.begin() + static_cast<std::ptrdiff_t>(end));
            if (!send_message(part)) return false;
        }
        all.readings.clear();
        bool sent = send_message(batch_);
        all.clear();
        batch_.ended = false;
        return sent;
    }

    DeviceSource& source_;
    DurNs interval_;
    Schedule schedule_;
    EnergyProbe probe_;
    PollMessage batch_;
    Lateness lateness_;
    std::uint64_t missed_ = 0;
    TimeNs sent_ = 0;
    bool said_end_ = false;
};

bool serve(const Start& start) {
    Result<std::unique_ptr<DeviceSource>> source = open_source(start.request);
    if (!source.ok()) return send_message(Refused{static_cast<int>(source.error().code), source.error().message});
    std::span<const SampledDevice> devices = (*source)->devices();
    Opened opened{
        std::string((*source)->name()), (*source)->immediate(), {devices.begin(), devices.end()}, (*source)->notes()};
    return send_message(opened) && Region(**source, start).run();
}

}  // namespace

int run_sampler_process() {
    begin_link_end("gpuprof-sampler");
    prctl(PR_SET_TIMERSLACK, 1'000UL);  // ns; the default of 50 us is half a percent of a 10 ms interval
    for (;;) {
        std::optional<Message> message = receive_message();
        if (!message) return 0;
        if (std::holds_alternative<Stop>(*message)) continue;  // from a region that was refused
        auto* start = std::get_if<Start>(&*message);
        if (start == nullptr || !serve(*start)) return 0;
    }
}

}  // namespace gpuprof::device
