// Empty kernels launched as fast as the host can, a copy every hundred and a graph of ten every thousand:
//
//   storm [LAUNCHES]
//
// Prints microseconds per launch; on stderr how many kernels and copies there were in all.
#include <chrono>
#include <cstdio>
#include <cstdlib>

__global__ void nothing(int* out) {
    if (out != nullptr && threadIdx.x == 1024) *out = 1;
}

#define CHECK(call)                                                              \
    do {                                                                         \
        cudaError_t code = (call);                                               \
        if (code != cudaSuccess) {                                               \
            std::fprintf(stderr, "storm: %s: %s\n", #call, cudaGetErrorString(code)); \
            return 1;                                                            \
        }                                                                        \
    } while (false)

int main(int count, char** words) {
    long launches = count > 1 ? std::atol(words[1]) : 200000;
    int* device = nullptr;
    int host[256] = {};
    CHECK(cudaMalloc(&device, sizeof host));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 10; ++i) nothing<<<1, 32, 0, stream>>>(device);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiateWithFlags(&ready, graph, 0));
    long kernels = 0, copies = 0;
    auto begun = std::chrono::steady_clock::now();
    for (long i = 0; i < launches; ++i) {
        nothing<<<1, 32, 0, stream>>>(device);
        ++kernels;
        if (i % 100 == 99) {
            CHECK(cudaMemcpyAsync(device, host, sizeof host, cudaMemcpyHostToDevice, stream));
            ++copies;
        }
        if (i % 1000 == 999) {
            CHECK(cudaGraphLaunch(ready, stream));
            kernels += 10;
        }
    }
    CHECK(cudaStreamSynchronize(stream));
    std::chrono::duration<double, std::micro> passed = std::chrono::steady_clock::now() - begun;
    std::printf("%.4f\n", passed.count() / static_cast<double>(launches));
    std::fprintf(stderr, "%ld %ld\n", kernels, copies);
    return 0;
}
