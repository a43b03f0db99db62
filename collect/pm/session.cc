#include "collect/pm/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/clock.h"

namespace gpuprof::pm {
namespace {

constexpr std::size_t kHardwareBuffer = std::size_t{64} << 20;
constexpr int kMaxDecodeRestarts = 5;
// For GPUs that cannot sample by time, whose system clock runs at about 1 GHz. The times of samples are measured
// anyway.
constexpr double kSysclkPerNs = 1.0;

}  // namespace

Session::Session(const Api& api, Chip chip, Plan plan, DurNs interval, TimeNs resume)
    : api_(api),
      chip_(std::move(chip)),
      plan_(std::move(plan)),
      interval_(interval),
      values_(plan_.counters.size()),
      last_end_(resume) {}

Result<std::unique_ptr<Session>> Session::open(const Api& api, std::size_t device, const CounterSet& set,
                                               DurNs interval, TimeNs resume) {
    Result<Chip> chip = find_chip(api, device);
    if (!chip.ok()) return chip.error();
    Result<Plan> plan = make_plan(api, *chip, set);
    if (!plan.ok()) return plan.error();
    std::unique_ptr<Session> session(new Session(api, std::move(*chip), std::move(*plan), interval, resume));
    session->remark_left_out("are unknown on this GPU", session->plan_.unknown);
    session->remark_left_out("do not fit into one pass with the others", session->plan_.crowded_out);
    for (auto step : {&Session::enable, &Session::configure, &Session::make_image})
        if (Status status = (session.get()->*step)(); !status) return status.error();
    return session;
}

Session::~Session() {
    if (object_ == nullptr) return;
    ObjectParams parameters;
    parameters.object = object_;
    if (running_) (void)api_.stop.code(parameters);
    (void)api_.disable.code(parameters);
}

void Session::remark_left_out(const char* why, const std::vector<PmCounter>& counters) {
    if (counters.empty()) return;
    std::string names;
    for (PmCounter counter : counters) names += fmt::format("{}{}", names.empty() ? "" : ", ", spec_of(counter).name);
    remarks_.push_back(fmt::format("counters that {} ({}) are skipped: {}", why, chip_.name, names));
}

Status Session::enable() {
    Enable parameters;
    parameters.device = chip_.device;
    if (Status status = api_.enable(parameters); !status) return status;
    object_ = parameters.object;
    return {};
}

// Turing and GA100 have no trigger by time, and Turing only keeps the oldest samples (cupti_pmsampling.h). CUPTI 12.6
// offers no choice of what to keep, so its structure is shorter.
Status Session::configure() {
    struct Attempt {
        std::int32_t trigger, append;
        std::size_t size;
    };
    constexpr std::size_t kCurrentSize = SetConfig{}.size, kSizeBefore13 = offsetof(SetConfig, append);
    constexpr Attempt kAttempts[] = {{kTimeInterval, kKeepLatest, kCurrentSize},
                                     {kTimeInterval, kKeepOldest, kSizeBefore13},
                                     {kSysclkInterval, kKeepLatest, kCurrentSize},
                                     {kSysclkInterval, kKeepOldest, kCurrentSize},
                                     {kSysclkInterval, kKeepOldest, kSizeBefore13}};
    auto cycles = static_cast<std::uint64_t>(static_cast<double>(interval_) * kSysclkPerNs);
    int first = kSuccess;
    for (const Attempt& attempt : kAttempts) {
        bool by_time = attempt.trigger == kTimeInterval;
        SetConfig parameters{.size = attempt.size,
                             .object = object_,
                             .bytes = plan_.config.size(),
                             .image = plan_.config.data(),
                             .hardware_buffer = kHardwareBuffer,
                             .interval = by_time ? static_cast<std::uint64_t>(interval_) : cycles,
                             .trigger = attempt.trigger,
                             .append = attempt.append};
        int code = api_.set_config.code(parameters);
        if (first == kSuccess) first = code;
        if (code == kSuccess) {
            if (!by_time)
                remarks_.push_back(
                    fmt::format("this GPU ({}) cannot sample by time; it samples every {} cycles of its system clock",
                                chip_.name, cycles));
            return {};
        }
        if (code != kNotSupported && code != kInvalidParameter) break;
    }
    return explain(api_.set_config.name, first);
}

Status Session::make_image() {
    GetCounterDataSize size;
    size.object = object_;
    size.names = plan_.names.data();
    size.count = plan_.names.size();
    size.max_samples = kMaxSamples;
    if (Status status = api_.data_size(size); !status) return status;
    image_.resize(size.bytes);
    return empty_image();
}

Status Session::empty_image() {
    InitializeImage parameters;
    parameters.object = object_;
    parameters.bytes = image_.size();
    parameters.image = image_.data();
    return api_.initialize_image(parameters);
}

Status Session::start() {
    ObjectParams parameters;
    parameters.object = object_;
    Status status = api_.start(parameters);
    running_ = status.ok();
    opening_ = true;
    return status;
}

// After a buffer overflow, CUPTI decodes nothing more until sampling is restarted.
Status Session::restart() {
    if (++restarts_ > kMaxDecodeRestarts) return explain(api_.decode.name, kOutOfMemory);
    ObjectParams parameters;
    parameters.object = object_;
    if (Status status = api_.stop(parameters); !status) return status;
    running_ = false;
    return start();
}

Result<bool> Session::decode(CounterCapture& to) {
    if (Status status = empty_image(); !status) return status.error();
    DecodeData parameters;
    parameters.object = object_;
    parameters.image = image_.data();
    parameters.bytes = image_.size();
    int code = api_.decode.code(parameters);
    overflow_ |= code == kOutOfMemory || parameters.overflow != 0;
    if (code == kOutOfMemory && running_) {
        if (Status status = restart(); !status) return status.error();
        return true;
    }
    if (code != kSuccess) return explain(api_.decode.name, code);
    GetCounterDataFacts facts;
    facts.image = image_.data();
    facts.bytes = image_.size();
    if (Status status = api_.data_facts(facts); !status) return status.error();
    for (std::size_t i = 0; i < facts.completed; ++i)
        if (Status status = take(to, i); !status) return status.error();
    return facts.completed == 0 || parameters.reason == kEndOfRecords;
}

Status Session::take(CounterCapture& to, std::size_t sample) {
    GetSampleTimes times;
    times.object = object_;
    times.image = image_.data();
    times.bytes = image_.size();
    times.sample = sample;
    if (Status status = api_.sample_times(times); !status) return status;
    auto start = static_cast<TimeNs>(times.start), end = static_cast<TimeNs>(times.end);
    // The first one extends back to the setup of the counters.
    if (std::exchange(opening_, false)) return {};
    if (start <= 0 || end <= start || end <= last_end_) {
        lose(to, 1, "samples without a time");
        return {};
    }
    DurNs hole = last_end_ == 0 ? 0 : start - last_end_, length = end - start;
    if (hole >= length)
        lose(to, static_cast<std::uint64_t>((hole + length / 2) / length), "samples during a pause");
    else if (overflow_)
        lose(to, 1, "samples lost to a buffer overflow, at least");
    overflow_ = false;
    restarts_ = 0;
    last_end_ = end;
    HostEvaluate evaluate;
    evaluate.host = plan_.host->object();
    evaluate.image = image_.data();
    evaluate.bytes = image_.size();
    evaluate.sample = sample;
    evaluate.names = plan_.names.data();
    evaluate.count = plan_.names.size();
    evaluate.values = values_.data();
    if (Status status = api_.host_evaluate(evaluate); !status) return status;
    to.add(static_cast<std::int32_t>(chip_.device), start, plan_.counters, values_);
    ++sample_times_;
    return {};
}

Status Session::collect(CounterCapture& to, TimeNs deadline) {
    drained_ = false;
    while (!drained_ && monotonic_ns() < deadline) {
        Result<bool> empty = decode(to);
        if (!empty.ok()) return empty.error();
        drained_ = *empty;
    }
    return {};
}

Status Session::stop(CounterCapture& to, TimeNs deadline) {
    ObjectParams parameters;
    parameters.object = object_;
    Status status = api_.stop(parameters);
    running_ = false;
    TimeNs ended = realtime_ns();
    if (status) status = collect(to, deadline);
    if (!drained_ && last_end_ > 0 && ended > last_end_)
        lose(to, static_cast<std::uint64_t>((ended - last_end_) / interval_), "samples not collected before the end");
    return status;
}

void Session::lose(CounterCapture& to, std::uint64_t sample_times, const char* where) {
    to.lose(static_cast<std::int32_t>(chip_.device), sample_times, where);
    lost_ += sample_times;
}

}  // namespace gpuprof::pm
