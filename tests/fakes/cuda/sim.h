// The device behind the fake libcuda.so.1 that timing needs: a simulated clock, streams, events, kernels that take what a
// script says. Nothing here waits: waiting moves the host's clock forward. Statements, one a line or between semicolons, by
// fake_cuda_set() or the environment variable GPUPROF_FAKE_CUDA_SIM:
//
//   kernel N constant NS                 how long kernel N ("kernel_N" in a module, or fake_cuda_launch(N, stream)) takes
//   kernel N normal MEDIAN_NS SHARE [SEED]      | a relative standard deviation of SHARE; lognormal: of the logarithm
//   kernel N lognormal MEDIAN_NS SHARE [SEED]   | bimodal: seven in ten around the median, three 10 % above
//   kernel N bimodal LOW_NS SHARE [SEED]        |
//   first N COUNT FACTOR                 the first run of kernel N takes FACTOR times as long, and less and less for COUNT runs
//   drift PER_S                          all kernels grow by this share per second of the device's clock
//   throttle FROM_NS TO_NS FACTOR        kernels that start in between take FACTOR times as long
//   cold FACTOR                          a kernel takes FACTOR times as long after a memset of at least the size of L2
//   launch_ns NS                         host time of a launch (2000); of other calls call_ns NS (500)
//   latency_ns NS                        from a launch to the earliest start on the device (3000)
//   resolution_ns NS                     of events (0: exact)
//   queue N                              launches that a held stream takes before the host has to wait (1024)
//   l2 BYTES   memory BYTES              50 MB, 100 GB
//   attribute N VALUE                    what cuDeviceGetAttribute answers besides the L2's size
//   name TEXT                            of the device
//   current                              a context is current already
//   live                                 the host's clock is the machine's, and waiting waits: for programs with a clock of their own
//   fail FUNCTION CODE [after N]         the function answers CODE after N calls that work
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <istream>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "measure/random.h"

namespace fake_cuda {

struct Event {
    bool recorded = false;
    double time = 0;
};

struct Op {
    enum Kind { kernel, memset, record, hold } kind;
    int number = 0;         // kernel
    std::size_t bytes = 0;  // memset
    Event* event = nullptr;
    volatile std::uint32_t* words = nullptr;  // hold
    double timeout = 0;
    double submitted = 0;
};

struct Graph {
    std::vector<Op> ops;
};

struct Stream {
    double ready = 0;
    bool held = false;
    double hold_begin = 0, hold_timeout = 0;
    volatile std::uint32_t* words = nullptr;
    std::deque<Op> queue;
    std::unique_ptr<Graph> capturing;
    bool spoilt = false;  // the capture
};

struct Kernel {
    std::string kind = "constant";
    double ns = 1000, share = 0;
    gpuprof::measure::Random random{1};
    std::uint64_t runs = 0, slow_runs = 0;
    double slow_factor = 1;
};

class Sim {
public:
    // False: not understood.
    bool set(const std::string& lines);
    // Every function begins with it: counts the call, moves the host's clock, lets go of streams whose hold was released.
    // Not 0: what the function is to answer.
    int enter(const char* function, bool launches = false);
    void submit(Stream& stream, Op op);
    // Moves the host's clock to when the stream is done; a hold that is not released times out.
    void wait(Stream& stream);
    void wait_all();
    // Moves the host's clock forward to a time of the device; `live` sleeps until then.
    void wait_until(double time);
    Stream& stream(void* handle) { return streams_[handle]; }

    double host = 0;
    std::size_t l2 = 50'000'000, memory = 100'000'000'000, used = 0;
    bool current = false;
    double throttle_from = std::numeric_limits<double>::infinity(), throttle_to = 0, throttle_factor = 1;
    std::map<int, int> attributes;
    std::string name;  // "": the library's own
    std::map<std::string, std::int64_t> calls;
    std::map<std::uint64_t, std::size_t> allocations;

private:
    struct Rule {
        std::string function;
        int code = 0;
        long after = 0;
    };
    bool set_line(const std::string& line);
    bool set_kernel(std::istream& words);
    void poll();
    void advance(double ns);
    void let_go(Stream& stream, double time);
    void execute(Stream& stream, const Op& op);
    double duration_of(int number, double start);

    std::map<void*, Stream> streams_;
    std::map<int, Kernel> kernels_;
    std::vector<Rule> rules_;
    double launch_ns_ = 2000, call_ns_ = 500, latency_ns_ = 3000, resolution_ns_ = 0, drift_per_s_ = 0, cold_ = 1;
    std::size_t queue_ = 1024;
    bool flushed_ = false, live_ = false;
    double live_since_ = 0;
};

Sim& sim();

}  // namespace fake_cuda

// Tells the fake libcupti of a call, which may be within one of its client's functions.
void fake_cuda_tell(const char* function);
// Sim::enter() with the lock, for functions of other files.
int fake_cuda_enter(const char* function);
// The device's, by the script.
std::string fake_cuda_name();
