// A CUDA program without a framework, for checks of the collector: it says exactly what it did.
//
//   storm launches N      N empty kernels as fast as the host can, a copy every hundred, a graph of ten every thousand
//   storm graphs N        N launches of a graph of ten kernels
//   storm windows N       N times: cudaProfilerStart, 100 kernels, wait, cudaProfilerStop
//   storm loaded N        the same without waiting, while another thread launches all the time
//   storm overlap N       N long kernels of one block in one stream, then in each of two: how much they overlap
//   storm busy SECONDS    long kernels back to back, timed by events
//   storm memory SECONDS  nothing for SECONDS, then holds 768 MiB in three allocations for SECONDS, then 256 MiB
//   storm exit N          N kernels, wait, and _exit(0) at once
//   storm annotated N     annotates before CUDA is used, then N kernels, wait, and return
//   storm fork N          annotates, forks before CUDA is used; the child launches N kernels
//
// The last line on stdout is JSON: kernels, copies, graphs, and what the mode measured. Times are in microseconds.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <thread>
#include <vector>

// Of the runtime; its header comes in a package of its own.
extern "C" cudaError_t cudaProfilerStart(void);
extern "C" cudaError_t cudaProfilerStop(void);

namespace {

__global__ void nothing(int* out) {
    if (out != nullptr && threadIdx.x == 1024) *out = 1;
}

__global__ void spin(float* out, int rounds) {
    float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
    for (int i = 0; i < rounds; ++i) a = a * 1.0001f + 0.5f, b = b * 1.0001f + 0.5f, c = c * 1.0001f + 0.5f, d = d * 1.0001f + 0.5f;
    if (a + b + c + d == 0.f) *out = a;
}

#define CHECK(call)                                                                   \
    do {                                                                              \
        cudaError_t code = (call);                                                    \
        if (code != cudaSuccess) {                                                    \
            std::fprintf(stderr, "storm: %s: %s\n", #call, cudaGetErrorString(code)); \
            std::exit(1);                                                             \
        }                                                                             \
    } while (false)

using Clock = std::chrono::steady_clock;

double us_since(Clock::time_point begun) {
    return std::chrono::duration<double, std::micro>(Clock::now() - begun).count();
}

struct Device {
    int* memory = nullptr;
    cudaStream_t stream = nullptr;
    cudaGraphExec_t graph = nullptr;

    Device() {
        CHECK(cudaMalloc(&memory, 4096));
        CHECK(cudaStreamCreate(&stream));
        cudaGraph_t made;
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        for (int i = 0; i < 10; ++i) nothing<<<1, 32, 0, stream>>>(memory);
        CHECK(cudaStreamEndCapture(stream, &made));
        CHECK(cudaGraphInstantiateWithFlags(&graph, made, 0));
    }
    void launch(long count) const {
        for (long i = 0; i < count; ++i) nothing<<<1, 32, 0, stream>>>(memory);
    }
    void wait() const { CHECK(cudaStreamSynchronize(stream)); }
};

void launches(long count) {
    Device device;
    int host[256] = {};
    long copies = 0, graphs = 0;
    device.launch(1000);
    device.wait();
    auto begun = Clock::now();
    for (long i = 1; i <= count; ++i) {
        device.launch(1);
        if (i % 100 == 0) {
            CHECK(cudaMemcpyAsync(device.memory, host, sizeof host, cudaMemcpyHostToDevice, device.stream));
            ++copies;
        }
        if (i % 1000 == 0) {
            CHECK(cudaGraphLaunch(device.graph, device.stream));
            ++graphs;
        }
    }
    device.wait();
    double us = us_since(begun);
    std::printf("{\"kernels\": %ld, \"copies\": %ld, \"graphs\": %ld, \"us_per_launch\": %.4f}\n", 1000 + count + 10 * graphs, copies,
                graphs, us / static_cast<double>(count));
}

void graphs(long count) {
    Device device;
    auto begun = Clock::now();
    for (long i = 0; i < count; ++i) CHECK(cudaGraphLaunch(device.graph, device.stream));
    device.wait();
    std::printf("{\"kernels\": %ld, \"copies\": 0, \"graphs\": %ld, \"us_per_graph\": %.4f}\n", 10 * count, count,
                us_since(begun) / static_cast<double>(count));
}

void windows(long count, bool loaded) {
    Device device;
    std::atomic<bool> over{false};
    std::atomic<long> beside{0};
    std::thread other;
    if (loaded)
        other = std::thread([&] {
            Device mine;
            for (; !over; beside += 100) {
                mine.launch(100);
                mine.wait();
            }
        });
    std::vector<double> opened, closed;
    for (long i = 0; i < count; ++i) {
        device.launch(100);
        if (!loaded) device.wait();
        auto begun = Clock::now();
        CHECK(cudaProfilerStart());
        opened.push_back(us_since(begun));
        device.launch(100);
        if (!loaded) device.wait();
        begun = Clock::now();
        CHECK(cudaProfilerStop());
        closed.push_back(us_since(begun));
    }
    device.wait();
    over = true;
    if (loaded) other.join();
    double first = opened.front();
    std::sort(opened.begin(), opened.end());
    std::sort(closed.begin(), closed.end());
    std::printf("{\"kernels\": %ld, \"inside\": %ld, \"first_open_us\": %.1f, \"open_us\": %.1f, \"longest_open_us\": %.1f, \"close_us\": %.1f}\n",
                200 * count + beside.load(), 100 * count, first, opened[opened.size() / 2], opened.back(), closed[closed.size() / 2]);
}

// 2: both streams run at once; 1: one after the other.
void overlap(long count) {
    Device one, other;
    auto run = [&](std::initializer_list<const Device*> devices) {
        auto begun = Clock::now();
        for (long i = 0; i < count; ++i)
            for (const Device* each : devices) spin<<<1, 256, 0, each->stream>>>(reinterpret_cast<float*>(each->memory), 100000);
        for (const Device* each : devices) each->wait();
        return us_since(begun);
    };
    run({&one, &other});
    double alone = run({&one}), both = run({&one, &other});
    std::printf("{\"kernels\": %ld, \"alone_us\": %.1f, \"both_us\": %.1f, \"overlap\": %.4f}\n", 5 * count, alone, both, 2 * alone / both);
}

void busy(double seconds) {
    Device device;
    cudaDeviceProp facts;
    CHECK(cudaGetDeviceProperties(&facts, 0));
    cudaEvent_t from, to;
    CHECK(cudaEventCreate(&from));
    CHECK(cudaEventCreate(&to));
    float* out = reinterpret_cast<float*>(device.memory);
    auto run = [&](int count) {
        for (int i = 0; i < count; ++i) spin<<<facts.multiProcessorCount * 8, 256, 0, device.stream>>>(out, 20000);
    };
    run(3);
    device.wait();
    long kernels = 0;
    double ms = 0;
    for (auto begun = Clock::now(); us_since(begun) < seconds * 1e6; kernels += 50) {
        CHECK(cudaEventRecord(from, device.stream));
        run(50);
        CHECK(cudaEventRecord(to, device.stream));
        CHECK(cudaEventSynchronize(to));
        float passed = 0;
        CHECK(cudaEventElapsedTime(&passed, from, to));
        ms += passed;
    }
    std::printf("{\"kernels\": %ld, \"timed_kernels\": %ld, \"events_ms\": %.4f}\n", kernels + 3, kernels, ms);
}

// Each phase begins and ends with kernels.
void memory(double seconds) {
    constexpr std::size_t kMiB = std::size_t{1} << 20;
    Device device;
    auto phase = [&] {
        device.launch(10);
        device.wait();
        std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
        device.launch(10);
        device.wait();
    };
    phase();
    void* held[3] = {};
    for (void*& each : held) CHECK(cudaMalloc(&each, 256 * kMiB));
    phase();
    for (int i = 0; i < 2; ++i) CHECK(cudaFree(held[i]));
    phase();
    std::printf("{\"kernels\": 60, \"peak_bytes\": %zu, \"small_bytes\": 4096}\n", 768 * kMiB);
}

void annotated(long count) {
    nvtxRangePushA("before CUDA");
    Device device;
    device.launch(count);
    device.wait();
    nvtxRangePop();
    std::printf("{\"kernels\": %ld}\n", count);
}

void ends_at_once(long count) {
    Device device;
    device.launch(count);
    device.wait();
    std::printf("{\"kernels\": %ld}\n", count);
    std::fflush(stdout);
    _exit(0);
}

void forks(long count) {
    nvtxRangePushA("before the fork");
    nvtxRangePop();
    pid_t child = fork();
    if (child == 0) {
        Device device;
        device.launch(count);
        device.wait();
        std::exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    std::printf("{\"kernels\": %ld, \"child\": %d}\n", count, status);
}

}  // namespace

int main(int count, char** words) {
    std::string mode = count > 1 ? words[1] : "";
    double number = count > 2 ? std::atof(words[2]) : 1000;
    long whole = static_cast<long>(number);
    if (mode == "launches")
        launches(whole);
    else if (mode == "graphs")
        graphs(whole);
    else if (mode == "windows" || mode == "loaded")
        windows(whole, mode == "loaded");
    else if (mode == "overlap")
        overlap(whole);
    else if (mode == "annotated")
        annotated(whole);
    else if (mode == "busy")
        busy(number);
    else if (mode == "memory")
        memory(number);
    else if (mode == "exit")
        ends_at_once(whole);
    else if (mode == "fork")
        forks(whole);
    else {
        std::fprintf(stderr, "usage: storm launches|graphs|windows|loaded|overlap|busy|memory|exit|annotated|fork NUMBER\n");
        return 2;
    }
    return 0;
}
