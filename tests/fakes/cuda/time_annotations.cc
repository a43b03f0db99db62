// Time of one NVTX event on the thread that makes it, through the table that the client calls:
//
//   time_annotations [THREADS [NAME [PAIRS]]]      PAIRS of a push and a pop per burst, up to 1,000 (the default)
//
// With NVTX_INJECTION64_PATH and GPUPROF_RECORD_DIR set, the collector is behind it, else nothing. Events come in bursts that
// fit a thread's ring, with pauses in which it is emptied; the median of the bursts counts. Prints ns per event.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/fakes/cuda/fake_nvtx.h"

namespace {

constexpr int kBursts = 100, kMostPairs = 1000;
int pairs = kMostPairs;
const char* name = "forward";
std::mutex lock;
std::vector<double> pushes;

template <class Pair>
double burst(Pair&& pair) {
    auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < pairs; ++i) pair();
    std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - begun;
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
    return passed.count() / (2 * pairs);
}

void annotate() {
    for (int i = 0; i < kBursts; ++i) {
        double push = burst([] { fake_nvtx::push(name), fake_nvtx::pop(); });
        std::lock_guard<std::mutex> held(lock);
        pushes.push_back(push);
    }
}

double median(std::vector<double>& of) {
    std::nth_element(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2), of.end());
    return of[of.size() / 2];
}

}  // namespace

int main(int count, char** words) {
    int threads = count > 1 ? std::atoi(words[1]) : 1;
    if (count > 2) name = words[2];
    if (count > 3) pairs = std::clamp(std::atoi(words[3]), 1, kMostPairs);
    fake_nvtx::start();
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i) running.emplace_back(annotate);
    for (std::thread& thread : running) thread.join();
    std::printf("%.1f\n", median(pushes));
    return 0;
}
