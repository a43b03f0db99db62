#include "collect/inject/counters/launch_measurement.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collect/inject/cupti/cupti_codes.h"
#include "core/base/clock.h"

namespace gpuprof::inject {
namespace {

using spool::CounterSkip;

constexpr int kMaxRefusals = 3;          // in a row; then nothing more is tried
constexpr std::uint64_t kSlowdown = 50;  // of a kernel under replay, at most: passes, and saving of memory

pid_t this_thread() noexcept { return static_cast<pid_t>(syscall(SYS_gettid)); }

}  // namespace

bool MeasurementOwner::acquire(std::int64_t ns) noexcept {
    std::int64_t until = monotonic_ns() + ns;
    for (;;) {
        pid_t unowned = 0;
        if (thread_.compare_exchange_weak(unowned, this_thread(), std::memory_order_acquire)) return true;
        if (monotonic_ns() >= until) return false;
        constexpr timespec kPause{0, 50'000};
        nanosleep(&kPause, nullptr);
    }
}

bool MeasurementOwner::is_this_thread() const noexcept {
    return thread_.load(std::memory_order_relaxed) == this_thread();
}

bool LaunchMeasurement::start(const CounterPlan& plan, const Cupti& cupti, std::uint32_t version,
                              const char* folder) noexcept {
    plan_ = &plan;
    cupti_ = &cupti;
    version_ = version;
    load_range_libraries(cupti.path);
    driver_.load();
    return spool_.open(folder) && (!counts_instructions() || modules_.open(folder));
}

bool LaunchMeasurement::acquire() noexcept {
    return owner_.acquire(static_cast<std::int64_t>(plan_->hang_ns) + 1'000'000'000);
}

void LaunchMeasurement::release() noexcept {
    since_.store(0, std::memory_order_relaxed);
    session_ = nullptr;
    owner_.release();
}

RangeSession* LaunchMeasurement::session_of(const void* context) noexcept {
    RangeSession* free = nullptr;
    for (RangeSession& session : sessions_) {
        if (session.context() == context) return &session;
        if (free == nullptr && session.context() == nullptr) free = &session;
    }
    return free;
}

void LaunchMeasurement::count_failure(int code) noexcept {
    if (holds_for_all(code) || ++failures_ >= kMaxRefusals) ended_.store(true, std::memory_order_relaxed);
}

CuptiFailure LaunchMeasurement::begin_session(RangeSession& session, const char* range) noexcept {
    if (counts_instructions()) return instructions_.begin(*cupti_, *plan_, session.context(), session.device());
    CuptiFailure failure;
    if (!session.is_open()) failure = session.open(*cupti_, *plan_, version_);
    return failure ? failure : session.begin(*cupti_, *plan_, range);
}

bool LaunchMeasurement::begin(spool::CounterLaunch& launch, const char* name, void* context,
                              std::uint64_t typical_ns) noexcept {
    RangeSession* session = session_of(context);
    if (session == nullptr) {
        spool_.skip(CounterSkip::ended, name);
        return false;
    }
    CuptiFailure failure;
    if (!session->is_open()) failure = session->find_device(*cupti_, context);
    if (!failure && plan_->chip != session->chip()) {
        spool_.skip(CounterSkip::other_chip, name);
        return false;
    }
    launch.number = number_.fetch_add(1, std::memory_order_relaxed) + 1;
    launch.time = static_cast<std::uint64_t>(realtime_ns());
    launch.device = session->device();
    spool_.write_note(launch, name);
    // Of a kernel whose duration is unknown, every pass may take as long.
    std::uint64_t limit =
        typical_ns == 0 ? plan_->hang_ns * plan_->passes : plan_->hang_ns + typical_ns * plan_->passes * kSlowdown;
    limit_.store(static_cast<std::int64_t>(limit), std::memory_order_relaxed);
    since_.store(monotonic_ns(), std::memory_order_release);
    if (!failure) failure = begin_session(*session, launch.range != 0 ? name : nullptr);
    if (failure) {
        spool_.write_image(launch.number, 0, {}, 0, failure);
        count_failure(failure.code);
        return false;
    }
    session_ = session;
    return true;
}

bool LaunchMeasurement::end() noexcept {
    bool instructions = counts_instructions();
    // CUPTI's data are those of ended kernels.
    if (instructions && driver_.synchronize != nullptr) driver_.synchronize();
    CuptiFailure failure = instructions ? instructions_.end(*cupti_, *plan_, payload_) : session_->end(*cupti_);
    auto took = static_cast<std::uint64_t>(monotonic_ns() - since_.load(std::memory_order_relaxed));
    spent_ns_ += took;
    if (instructions && !failure) modules_.write_counts(payload_.view());
    spool_.write_image(number_.load(std::memory_order_relaxed), took,
                       instructions ? std::string_view() : session_->image(),
                       instructions ? instructions_.dropped() : session_->dropped(), failure);
    if (session_->stuck() || instructions_.stuck()) ended_.store(true, std::memory_order_relaxed);
    if (failure) {
        count_failure(failure.code);
        return false;
    }
    failures_ = 0;
    return true;
}

void LaunchMeasurement::close(const void* context) noexcept {
    for (RangeSession& session : sessions_)
        if (session.is_open() && session.context() == context) session.close(*cupti_);
}

bool LaunchMeasurement::hangs(std::int64_t now) noexcept {
    std::int64_t since = since_.load(std::memory_order_acquire), limit = limit_.load(std::memory_order_relaxed);
    if (since == 0 || now - since < limit || hang_written_) return false;
    hang_written_ = true;
    spool_.write_hung(begun(), static_cast<std::uint64_t>(now - since));
    return true;
}

void LaunchMeasurement::finish() noexcept {
    spool_.finish();
    modules_.finish();
}

void LaunchMeasurement::forget() noexcept {
    spool_.forget();
    modules_.forget();
}

}  // namespace gpuprof::inject
