// Source: cupti_profiler_target.h of CUPTI 13.4, cuptiClockControlLock, ...Unlock, ...GetStatus.
#include "collect/counters/clock_lock.h"

#include <fmt/format.h>

#include <array>

#include "collect/counters/driver.h"
#include "collect/counters/host_process.h"
#include "core/base/caught.h"
#include "core/base/ids.h"

namespace gpuprof::counters {
namespace {

constexpr DurNs kLockTimeout = 30 * kSecond, kUnlockTimeout = 5 * kSecond;
constexpr int kBase = 1, kBoost = 2;                   // CUpti_ClockControl_Mode
constexpr int kUnlocked = 1;                           // CUpti_ClockControl_Status
constexpr int kNotSupported = 27, kNoPermission = 35;  // CUptiResult
constexpr std::string_view kInstead =
    "; lock them yourself (nvidia-smi --lock-gpu-clocks), or measure with --clock none";

class ClockControl {
public:
    static Result<ClockControl> open(const std::string& cupti) {
        const std::array<std::string, 1> names{cupti};
        Result<Library> library = Library::open(names);
        if (!library.ok()) return library.error();
        ClockControl control;
        control.lock_ = reinterpret_cast<int (*)(void*, int)>(library->symbol("cuptiClockControlLock"));
        control.unlock_ = reinterpret_cast<int (*)()>(library->symbol("cuptiClockControlUnlock"));
        control.status_ = reinterpret_cast<int (*)(void*, int*)>(library->symbol("cuptiClockControlGetStatus"));
        if (control.lock_ == nullptr || control.unlock_ == nullptr || control.status_ == nullptr)
            return Error{ExitCode::usage,
                         fmt::format("{} cannot lock clocks: CUPTI 13.4 or later can{}", cupti, kInstead)};
        return control;
    }
    Status lock(void* context, int mode) const {
        RunningCallScope mark("cuptiClockControlLock");
        int code = lock_(context, mode);
        if (code == 0) return {};
        std::string why = fmt::format("CUPTI answers {}", code);
        if (code == kNoPermission) why = "not permitted; boost clocks need root or CAP_SYS_ADMIN";
        if (code == kNotSupported) why = "not supported on this GPU (MIG slices, virtual GPUs)";
        return Error{code == kNoPermission ? ExitCode::not_permitted : ExitCode::empty,
                     fmt::format("cannot lock the clocks: {}{}", why, kInstead)};
    }
    bool locked(void* context) const {
        RunningCallScope mark("cuptiClockControlGetStatus");
        int status = kUnlocked;
        return status_(context, &status) == 0 && status != kUnlocked;
    }
    void unlock() const {
        RunningCallScope mark("cuptiClockControlUnlock");
        unlock_();
    }

private:
    int (*lock_)(void*, int) = nullptr;
    int (*unlock_)() = nullptr;
    int (*status_)(void*, int*) = nullptr;
};

Status lock_first_device(const ClockControl& control, const std::string& mode, ClockReply& reply) {
    Result<Driver> driver = Driver::open();
    if (!driver.ok()) return driver.error();
    Result<Driver::FirstDevice> device = driver->first_device();
    if (!device.ok()) return device.error();
    reply.external = control.locked(device->context);
    return control.lock(device->context, mode == "boost" ? kBoost : kBase);
}

}  // namespace

int hold_clocks(const ClockRequest& request) {
    ClockReply reply;
    auto refuse = [&](const Error& error) {
        reply.code = static_cast<int>(error.code);
        reply.error = error.message;
        return send_packet(encode(reply)) ? 0 : 1;
    };
    Result<ClockControl> control = ClockControl::open(request.cupti);
    if (!control.ok()) return refuse(control.error());
    if (Status locked = lock_first_device(*control, request.mode, reply); !locked) return refuse(locked.error());
    if (send_packet(encode(reply))) receive_packet(kMaxBytes);
    control->unlock();
    return send_packet(encode(reply)) ? 0 : 1;
}

Result<std::unique_ptr<ClockLock>> ClockLock::take(const std::string& cupti, const std::string& mode) {
    Result<std::unique_ptr<ProcessLink>> link = ProcessLink::open(sampler_program(), kHostArgument);
    if (!link.ok()) return link.error();
    std::unique_ptr<ClockLock> lock(new ClockLock(std::move(*link)));
    ClockRequest request{cupti, mode};
    std::optional<ClockReply> reply;
    if (lock->link_->send(encode(request)))
        reply = decode_clock_reply(lock->link_->receive(kLockTimeout, kMaxBytes).packet);
    if (!reply)
        return Error{ExitCode::empty,
                     fmt::format("cannot lock the clocks: the process that holds them ended{}", kInstead)};
    if (reply->code != 0) return Error{static_cast<ExitCode>(reply->code), reply->error};
    lock->external_ = reply->external;
    return lock;
}

ClockLock::~ClockLock() {
    (void)caught([this] {
        if (link_->send("unlock")) link_->receive(kUnlockTimeout, kMaxBytes);
    });
}

}  // namespace gpuprof::counters
