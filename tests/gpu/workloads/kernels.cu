// Nine kernels with one known bottleneck each, for measurements of kernel counters.
//
//   kernels [--rounds N] [--hold-mb N] [--threads N] [--graph] [--cooperative] [--contexts]
//
//   --rounds N      each kernel N times (default 3)
//   --hold-mb N     that much device memory more, allocated and filled, which a replay has to save if it can be written
//   --threads N     N threads launch at once (default 1)
//   --graph         the kernels as one CUDA graph, captured from a stream
//   --cooperative   a cooperative launch in addition
//   --contexts      the second half in a context of its own
//
// Ranges of NVTX: `round` around each. The last line on stdout is JSON: kernels, and milliseconds per round.
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr int kCount = 1 << 24, kSide = 4096, kMatrix = 1024;

__global__ void stream_triad(int n, const float* in, float* out) {  // DRAM bandwidth
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2.5f * in[i] + out[i];
}
__global__ void strided(int n, int stride, const float* in, float* out) {  // uncoalesced
    long i = static_cast<long>(blockIdx.x * blockDim.x + threadIdx.x) * stride % n;
    out[i] = in[i];
}
__global__ void transpose_plain(int side, const float* in, float* out) {  // uncoalesced stores
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[x * side + y] = in[y * side + x];
}
__global__ void bank_conflicts(float* out) {  // shared memory: 32 threads, one bank
    __shared__ float tile[32][32];
    int lane = threadIdx.x % 32;
    for (int i = 0; i < 512; ++i) tile[lane][i % 32] = tile[lane][(i + 1) % 32] + 1.0f;
    out[blockIdx.x * blockDim.x + threadIdx.x] = tile[lane][0];
}
__global__ void multiply_plain(int n, const float* a, const float* b, float* c) {  // L1 and latency
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += a[y * n + i] * b[i * n + x];
    c[y * n + x] = sum;
}
__global__ void fused_multiply_add(float* out, int rounds) {  // FP32 pipes
    float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
    for (int i = 0; i < rounds; ++i) a = a * 1.1f + b, b = b * 1.1f + c, c = c * 1.1f + d, d = d * 1.1f + a;
    out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}
__global__ void few_blocks(float* out, int rounds) {  // latency, low occupancy
    float a = threadIdx.x;
    for (int i = 0; i < rounds; ++i) a = a * 1.1f + 0.5f;
    out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
__global__ void divergent(float* out, int rounds) {
    float a = threadIdx.x;
    for (int i = 0; i < rounds; ++i)
        if (threadIdx.x % 32 == static_cast<unsigned>(i) % 32) a = sinf(a) + 1.5f;
    out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
__global__ void one_address(int* out) { atomicAdd(out, 1); }  // atomics
__global__ void all_wait(float* out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] += 1.0f;
    cooperative_groups::this_grid().sync();
}

#define CHECK(call)                                                                     \
    do {                                                                                \
        cudaError_t code = (call);                                                      \
        if (code != cudaSuccess) {                                                      \
            std::fprintf(stderr, "kernels: %s: %s\n", #call, cudaGetErrorString(code)); \
            std::exit(1);                                                               \
        }                                                                               \
    } while (false)

struct Data {
    float *in = nullptr, *out = nullptr;
    int* count = nullptr;
    cudaStream_t stream = nullptr;

    Data() {
        CHECK(cudaMalloc(&in, kCount * sizeof(float)));
        CHECK(cudaMalloc(&out, kCount * sizeof(float)));
        CHECK(cudaMalloc(&count, sizeof(int)));
        CHECK(cudaMemset(in, 0, kCount * sizeof(float)));
        CHECK(cudaMemset(out, 0, kCount * sizeof(float)));
        CHECK(cudaStreamCreate(&stream));
    }
};

constexpr int kKernels = 9;
void launch_all(const Data& d) {
    dim3 tile(32, 8), tiles(kSide / 32, kSide / 8), block(16, 16), blocks(kMatrix / 16, kMatrix / 16);
    stream_triad<<<kCount / 256, 256, 0, d.stream>>>(kCount, d.in, d.out);
    strided<<<kCount / 256, 256, 0, d.stream>>>(kCount, 32, d.in, d.out);
    transpose_plain<<<tiles, tile, 0, d.stream>>>(kSide, d.in, d.out);
    bank_conflicts<<<1056, 256, 0, d.stream>>>(d.out);
    multiply_plain<<<blocks, block, 0, d.stream>>>(kMatrix, d.in, d.in + kMatrix * kMatrix, d.out);
    fused_multiply_add<<<2112, 256, 0, d.stream>>>(d.out, 4096);
    few_blocks<<<16, 64, 0, d.stream>>>(d.out, 65536);
    divergent<<<1056, 256, 0, d.stream>>>(d.out, 1024);
    one_address<<<1056, 256, 0, d.stream>>>(d.count);
    CHECK(cudaGetLastError());
}

void launch_together(const Data& d) {
    float* out = d.out;
    void* arguments[] = {&out};
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(all_wait), dim3(64), dim3(256), arguments, 0, d.stream));
}

cudaGraphExec_t capture(const Data& d) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t made = nullptr;
    CHECK(cudaStreamBeginCapture(d.stream, cudaStreamCaptureModeThreadLocal));
    launch_all(d);
    CHECK(cudaStreamEndCapture(d.stream, &graph));
    CHECK(cudaGraphInstantiate(&made, graph, 0));
    return made;
}

struct Options {
    int rounds = 3, threads = 1;
    std::size_t hold_mb = 0;
    bool graph = false, cooperative = false, contexts = false;
};

void run(const Options& options, int rounds) {
    Data data;
    cudaGraphExec_t graph = options.graph ? capture(data) : nullptr;
    for (int i = 0; i < rounds; ++i) {
        nvtxRangePushA("round");
        if (graph != nullptr)
            CHECK(cudaGraphLaunch(graph, data.stream));
        else
            launch_all(data);
        if (options.cooperative) launch_together(data);
        CHECK(cudaStreamSynchronize(data.stream));
        nvtxRangePop();
    }
}

}  // namespace

int main(int count, char** words) {
    Options options;
    for (int i = 1; i < count; ++i) {
        auto is = [&](const char* name) { return std::strcmp(words[i], name) == 0; };
        auto number = [&] { return i + 1 < count ? std::atol(words[++i]) : 0; };
        if (is("--rounds")) options.rounds = static_cast<int>(number());
        else if (is("--hold-mb")) options.hold_mb = static_cast<std::size_t>(number());
        else if (is("--threads")) options.threads = static_cast<int>(number());
        else if (is("--graph")) options.graph = true;
        else if (is("--cooperative")) options.cooperative = true;
        else if (is("--contexts")) options.contexts = true;
        else return std::fprintf(stderr, "kernels: unknown option %s\n", words[i]), 2;
    }
    void* held = nullptr;
    if (options.hold_mb > 0) {
        CHECK(cudaMalloc(&held, options.hold_mb << 20));
        CHECK(cudaMemset(held, 1, options.hold_mb << 20));
    }
    auto begun = std::chrono::steady_clock::now();
    int rounds = options.contexts ? (options.rounds + 1) / 2 : options.rounds;
    std::vector<std::thread> threads;
    for (int i = 0; i < options.threads; ++i) threads.emplace_back([&] { run(options, rounds); });
    for (std::thread& thread : threads) thread.join();
    if (options.contexts) {
        CHECK(cudaDeviceReset());  // the primary context is made anew
        run(options, options.rounds / 2);
    }
    double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
    std::printf("{\"kernels\": %d, \"ms_per_round\": %.3f}\n", kKernels * options.rounds * options.threads, ms / options.rounds);
    return 0;
}
