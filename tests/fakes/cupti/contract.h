// What CUPTI and the driver ask of their clients beyond single calls, and what they give only once. Each breach is a line on stderr, counted
// (fake_cupti_breaches), and appended to the file that GPUPROF_FAKE_BREACHES names, which tests/conftest.py expects to stay empty.
//
// Sources, with the page "Usage" of CUPTI's documentation (13.5) as [guide]:
//   driver calls        "it is not supported to call any CUDA runtime or driver API from within a callback function", but for synchronising in those
//                       about API functions [guide, Callback API]
//   flushes             from callbacks about API functions only [guide, Flushing Activity Buffers]
//   switching           Disable in a callback deadlocked in 13.0 [release notes of 13.0 update 1]; Enable at an API function is what NVIDIA's samples do
//   the lock            a thread in a launch callback held what cuptiPCSamplingStop of another thread wanted to write (perf-agent, issues 99 and 101,
//                       seen on a GPU): here callbacks share a lock that those who switch take alone
//   device records      "emitted on CUDA driver initialization", or for the kinds dumped by cuptiActivityEnableAndDump [cupti_activity.h]
//   several subscribers "applies only to the CUPTI Activity API", not to profiling [guide, Multiple Subscribers]
//   sampling of PCs     "Continuous PC sampling is not compatible with concurrent kernel profiling" (Proton, CuptiProfiler.cpp)
//   code per module     "instrumentation code is generated at the time of loading the CUDA module"; when the kind comes later, then: over 5 s (kineto 542)
//   order, ownership    functions for buffers before kinds [cupti_activity.h]; a buffer that was given is CUPTI's until it is completed [guide]
//   the end             the driver has an exit handler of its own; after it nothing answers (UCX 11275, THAPI 276)
#pragma once

#include <cstdint>

#include "tests/fakes/cupti/client.h"
#include "tests/fakes/cupti/cupti_script.h"

namespace fake_cupti {

// A thread calls a function of the driver.
void check_driver_call(const char* function);
// A thread calls a function that only works in a process of V1. Not 0: the answer.
int check_single_subscriber(const char* function);
// The driver is gone. False: it was a breach to call.
bool check_driver_lives(const char* function);
void tear_driver_down();

// While one lives no thread is in a callback, unless this one is.
class Alone {
public:
    Alone();
    ~Alone();
    Alone(const Alone&) = delete;

private:
    bool held_;
};
// While one lives this thread is in a callback; it has the lock, if it did not have it before.
class AmongCallbacks {
public:
    AmongCallbacks();
    ~AmongCallbacks();
    AmongCallbacks(const AmongCallbacks&) = delete;

private:
    bool held_;
};

// Device records: what a client that wants them gets at the end of cuInit and for each dump comes with the script that is played next.
void owe_devices(Client& client);
void owe_devices_to_all();
void deliver_owed_devices(const Script& script);

// A kind of kernels is switched on: waits for what the modules loaded by then cost, the first time.
void pay_for_modules();
// Sampling of PCs and the kinds of kernels: a client may make kernels run one after the other to sample, or to try to.
void note_sampling_tried();
void note_serial_kernel();
void note_sampling(bool on);
int check_kernel_kind(const char* function, std::uint32_t kind);
int check_sampling(const char* function);

}  // namespace fake_cupti
