// How the fake answers a call: it looks up what the script has in store, and answers as the real library does otherwise
// (UNINITIALIZED before nvmlInit, NOT_SUPPORTED for most questions about MIG instances).
#pragma once

#include <unistd.h>

#include <csignal>
#include <cstring>
#include <ctime>
#include <memory>

#include "tests/fakes/nvml/nvml_script.h"

namespace fake_nvml {

inline std::map<std::string, std::unique_ptr<Machine>> machines;  // by script; handles stay valid
inline Machine* machine = nullptr;
inline int initialised = 0;

inline void spend(double us) {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    auto ns = static_cast<long>(us * 1000);
    if (us >= 200) {
        timespec span{ns / 1'000'000'000, ns % 1'000'000'000};
        nanosleep(&span, nullptr);
        return;
    }
    for (timespec then = now; (now.tv_sec - then.tv_sec) * 1'000'000'000 + now.tv_nsec - then.tv_nsec < ns;)
        clock_gettime(CLOCK_MONOTONIC, &now);
}

struct Fate {
    Return code = kSuccess;
    bool garbage = false;
};

// What the script has in store for this call.
inline Fate fate_of(const char* function, const FakeDevice* device) {
    if (auto cost = machine->cost_us.find(function); cost != machine->cost_us.end()) spend(cost->second);
    Fate fate;
    for (Rule& rule : machine->rules) {
        if (rule.function != "*" && rule.function != function) continue;
        if (rule.device >= 0 && (!device || device->number != rule.device)) continue;
        std::uint64_t call = rule.seen++;
        if (call < rule.after || call - rule.after >= rule.count) continue;
        if (rule.act == Act::hang)
            for (;;) pause();
        if (rule.act == Act::crash) {
            std::signal(SIGSEGV, SIG_DFL);
            std::raise(SIGSEGV);
        }
        if (rule.act == Act::garbage) fate.garbage = true;
        if (rule.act == Act::fail) return {rule.code, false};
    }
    return fate;
}

// Runs one call: the script's fate, else `fill`, which sets the outputs and answers a code.
template <class Fill, class... Out>
Return play(const char* function, FakeDevice* device, Fill fill, Out*... outputs) {
    if (!initialised) return kUninitialized;
    if (((outputs == nullptr) || ...)) return kInvalidArgument;
    Fate fate = fate_of(function, device);
    if (fate.code != kSuccess) return fate.code;
    if (!fate.garbage) return fill();
    (std::memset(static_cast<void*>(outputs), 0xFF, sizeof(Out)), ...);
    return kSuccess;
}

inline FakeDevice* known(Device handle) {
    if (machine)
        for (FakeDevice& device : machine->devices)
            if (reinterpret_cast<Device>(&device) == handle) return &device;
    return nullptr;
}

// A question about a device; most make no sense for a MIG instance.
template <class Fill, class... Out>
Return ask(const char* function, Device handle, bool also_mig, Fill fill, Out*... outputs) {
    FakeDevice* device = known(handle);
    return play(
        function, device,
        [&]() -> Return {
            if (!device) return kInvalidArgument;
            if (device->parent && !also_mig) return kNotSupported;
            return fill(*device);
        },
        outputs...);
}

template <class Out>
Return ask_field(const char* function, Device handle, const char* field, double scale, Out* out) {
    auto fill = [&](FakeDevice& device) {
        *out = static_cast<Out>(device.next(field) * scale + 0.5);
        return kSuccess;
    };
    return ask(function, handle, false, fill, out);
}

inline Return copy_text(const std::string& text, char* to, unsigned length) {
    if (length <= text.size()) return kInsufficientSize;
    std::memcpy(to, text.c_str(), text.size() + 1);
    return kSuccess;
}

inline Return ask_text(const char* function, Device handle, std::string FakeDevice::*text, char* to, unsigned length) {
    FakeDevice* device = known(handle);
    if (!initialised) return kUninitialized;
    Fate fate = fate_of(function, device);
    if (fate.code != kSuccess || !device) return fate.code != kSuccess ? fate.code : kInvalidArgument;
    if (!fate.garbage) return copy_text(device->*text, to, length);
    std::memset(to, 0xFF, length);
    return kSuccess;
}

}  // namespace fake_nvml
