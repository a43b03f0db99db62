#include "collect/pm/counter_process.h"

#include <cstdlib>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "collect/device/process_link.h"
#include "collect/pm/pm_wire.h"
#include "collect/pm/session.h"
#include "core/base/clock.h"
#include "core/base/ids.h"

namespace gpuprof::pm {
namespace {

constexpr DurNs kPollInterval = 50 * kMillisecond;  // between looks at the buffers
constexpr DurNs kMaxPollDuration = 500 * kMillisecond, kDrain = 600 * kMillisecond;
constexpr DurNs kReportInterval = 250 * kMillisecond, kWriteInterval = 1000 * kMillisecond;

// All devices of one request. A device that fails is dropped, and what it lacks at the end is counted.
class Sampler {
public:
    explicit Sampler(CounterRequest request) : request_(std::move(request)), ends_(request_.written_until) {}

    int run() {
        Status ready = open();
        if (ready) ready = start();
        if (!ready) return refuse(ready.error());
        if (!report(CounterReport::Phase::sampling)) return 1;
        while (!packet_before(monotonic_ns() + kPollInterval))
            if (!turn()) return 1;
        if (receive_packet(kMaxBytes) != kStopPacket) return 1;
        finish();
        return report(CounterReport::Phase::finished) ? 0 : 1;
    }

private:
    Status open() {
        const CounterSet* set = find_counter_set(request_.set);
        if (set == nullptr) return Error{ExitCode::usage, "unknown counter set " + request_.set};
        Result<Api> api = load_api(request_.program);
        if (!api.ok()) return api.error();
        api_ = *api;
        Result<int> count = count_devices();
        if (!count.ok()) return count.error();
        ends_.resize(static_cast<std::size_t>(*count));
        for (std::size_t device = 0; device < ends_.size(); ++device) {
            Result<std::unique_ptr<Session>> session =
                Session::open(api_, device, *set, request_.interval, ends_[device]);
            sessions_.push_back(session.ok() ? std::move(*session) : nullptr);
            if (!session.ok()) remark_failure(session.error());
            for (const std::string& remark : session.ok() ? sessions_.back()->remarks() : std::vector<std::string>())
                remark_once(remark);
        }
        return any_left();
    }

    Status start() {
        Result<std::unique_ptr<CounterCapture>> capture = CounterCapture::open(request_.part);
        if (!capture.ok()) return capture.error();
        capture_ = std::move(*capture);
        capture_->fact("counters.cupti", api_.path);
        write_clocks();
        each_session([](Session& session) { return session.start(); });
        return any_left();
    }

    // One look at every device; false if the launcher is gone.
    bool turn() {
        TimeNs now = monotonic_ns(), deadline = now + kMaxPollDuration;
        each_session([&](Session& session) { return session.collect(*capture_, deadline); });
        if (now - written_ >= kWriteInterval) write();
        return now - reported_ < kReportInterval || report(CounterReport::Phase::sampling);
    }

    void finish() {
        TimeNs deadline = monotonic_ns() + kDrain;
        each_session([&](Session& session) { return session.stop(*capture_, deadline); });
        for (std::size_t device = 0; device < sessions_.size(); ++device)
            if (!sessions_[device] && ends_[device] > 0)
                capture_->lose(static_cast<std::int32_t>(device),
                               static_cast<std::uint64_t>((realtime_ns() - ends_[device]) / request_.interval),
                               "sampling had ended");
        write_clocks();
        write();
        if (Status closed = capture_->close(); !closed) remark_once(closed.error().message);
        // Before the report: afterwards the launcher kills this process, and others may want the counters.
        for (std::unique_ptr<Session>& session : sessions_) {
            if (session) count(*session);
            session.reset();
        }
    }

    // Calls step(session) for each sampled device, and drops those for which it fails.
    template <class Step>
    void each_session(Step&& step) {
        for (std::unique_ptr<Session>& session : sessions_) {
            if (!session) continue;
            if (Status status = step(*session); !status) {
                remark_failure(status.error());
                count(*session);
                ends_[static_cast<std::size_t>(&session - sessions_.data())] = session->last_end();
                session.reset();
            }
        }
    }

    Status any_left() const {
        for (const std::unique_ptr<Session>& session : sessions_)
            if (session) return {};
        return failure_;
    }

    void remark_failure(const Error& error) {
        if (failure_) failure_ = error;
        remark_once(error.message);
    }

    void remark_once(const std::string& remark) {
        if (said_.insert(remark).second) remarks_.push_back(remark);
    }

    void count(const Session& session) {
        sample_times_ += session.sample_times();
        lost_ += session.lost();
    }

    void write_clocks() {
        std::uint64_t cupti = 0;
        TimeNs before = realtime_ns();
        if (api_.timestamp == nullptr || api_.timestamp(&cupti) != kSuccess) return;
        capture_->clocks(before + (realtime_ns() - before) / 2, static_cast<std::int64_t>(cupti));
    }

    void write() {
        written_ = monotonic_ns();
        if (Status status = capture_->flush(); !status) remark_once(status.error().message);
        for (std::size_t device = 0; device < sessions_.size(); ++device)
            if (sessions_[device]) ends_[device] = sessions_[device]->last_end();
    }

    bool report(CounterReport::Phase phase) {
        reported_ = monotonic_ns();
        CounterReport report{.phase = phase,
                             .code = 0,
                             .remarks = std::exchange(remarks_, {}),
                             .sample_times = sample_times_,
                             .lost = lost_,
                             .written_until = ends_};
        for (const std::unique_ptr<Session>& session : sessions_)
            if (session) {
                report.sample_times += session->sample_times();
                report.lost += session->lost();
            }
        return send_packet(encode(report));
    }

    int refuse(const Error& error) {
        CounterReport refusal{.phase = CounterReport::Phase::refused,
                              .code = static_cast<int>(error.code),
                              .remarks = {error.message},
                              .sample_times = 0,
                              .lost = 0,
                              .written_until = {}};
        return send_packet(encode(refusal)) ? 0 : 1;
    }

    CounterRequest request_;
    Api api_;
    std::unique_ptr<CounterCapture> capture_;
    std::vector<std::unique_ptr<Session>> sessions_;  // by device; null: dropped
    std::vector<TimeNs> ends_;                        // of the last sample written, by device; 0: none
    Status failure_;                                  // the first one
    std::vector<std::string> remarks_;                // not reported yet
    std::set<std::string> said_;
    std::uint64_t sample_times_ = 0, lost_ = 0;  // of dropped devices
    TimeNs written_ = monotonic_ns(), reported_ = 0;
};

}  // namespace

int run_counter_process() {
    begin_link_end("gpuprof-counter");
    std::optional<CounterRequest> request = decode_request(receive_packet(kMaxBytes));
    return request ? Sampler(std::move(*request)).run() : 1;
}

}  // namespace gpuprof::pm
