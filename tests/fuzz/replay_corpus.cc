// Runs fuzz targets without libFuzzer: `replay TARGET [FOLDER]` gives the target every seed of the folder as it is, cut off at many places
// and with bytes changed; by night at more of them. Without a folder random bytes are the seeds. What is changed follows from the seed's
// size alone, so a failure comes again. An input that takes more CPU time or memory than target.h allows is a failure too.
// `replay --input TARGET FILE...` gives files as they are. libFuzzer finds more (tests/fuzz/run.py); this is what ./test runs.
#include <sys/time.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_target.h"

// Of the address sanitizer; GCC does not install their header, sanitizer/allocator_interface.h.
extern "C" {
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*, std::size_t),
                                              void (*on_free)(const volatile void*));
std::size_t __sanitizer_get_allocated_size(const volatile void* at);
}

namespace {

using namespace gpuprof::fuzz;

const bool kNight = std::getenv("GPUPROF_NIGHTLY") != nullptr;
const std::size_t kCuts = kNight ? 32 : 16, kChanges = kNight ? 100 : 25;
constexpr int kHangSeconds = 30;  // of CPU time; then the system ends the process

// Heap in use, by the sanitizer's hooks: all threads, and nothing that the sanitizer takes for itself.
std::atomic<std::size_t> in_use, peak, largest;

void allocated(const volatile void*, std::size_t bytes) {
    std::size_t now = in_use += bytes;
    if (now > peak) peak = now;
    if (bytes > largest) largest = bytes;
}
void freed(const volatile void* at) {
    if (at != nullptr) in_use -= __sanitizer_get_allocated_size(at);
}

double processor_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct Most {
    double seconds = 0;
    std::size_t memory = 0, inputs = 0;
};

// A copy of exactly its size, so that a sanitizer sees a read behind it.
void run(const Target& target, std::string_view bytes, Most& most) {
    std::vector<char> exact(bytes.begin(), bytes.end());
    itimerval limit{{}, {kHangSeconds, 0}};
    setitimer(ITIMER_PROF, &limit, nullptr);
    std::size_t before = in_use;
    peak = before, largest = 0;
    double begun = processor_seconds();
    target.run({exact.data(), exact.size()});
    double seconds = processor_seconds() - begun;
    std::size_t memory = std::max<std::size_t>(peak, before) - before;
    most = {std::max(most.seconds, seconds), std::max(most.memory, memory), most.inputs + 1};
    if (seconds > kMaxSeconds) std::fprintf(stderr, "%.2f s\n", seconds);
    promise(seconds <= kMaxSeconds, "an input takes no longer than target.h allows");
    promise(memory <= kMaxMemory && largest <= kMaxAllocation, "an input takes no more memory than target.h allows");
}

void change(std::string& bytes, std::mt19937& random) {
    constexpr std::uint8_t kTelling[] = {0, 1, 0x7f, 0x80, 0xff, '"', '{', '9', '-', ','};
    auto byte = [](auto value) { return static_cast<char>(static_cast<std::uint8_t>(value)); };
    for (std::uint32_t times = 1 + random() % 4; times > 0; --times) {
        std::size_t at = random() % bytes.size();
        switch (random() % 4) {
            case 0: bytes[at] = byte(random()); break;
            case 1: bytes[at] = byte(static_cast<unsigned>(bytes[at]) ^ 1u << random() % 8); break;
            case 2: bytes[at] = byte(kTelling[random() % std::size(kTelling)]); break;
            default: {  // a piece comes again elsewhere
                std::size_t from = random() % bytes.size(), length = random() % 32;
                length = std::min({length, bytes.size() - from, bytes.size() - at});
                std::memmove(bytes.data() + at, bytes.data() + from, length);
            }
        }
    }
}

void replay(const Target& target, const std::string& seed, Most& most) {
    run(target, seed, most);
    if (seed.empty()) return;
    for (std::size_t cut = 0; cut < kCuts; ++cut)
        run(target, std::string_view(seed).substr(0, seed.size() * cut / kCuts), most);
    std::mt19937 random(static_cast<std::uint32_t>(seed.size()));
    for (std::size_t i = 0; i < kChanges; ++i) {
        std::string changed(seed);
        change(changed, random);
        run(target, changed, most);
    }
}

std::string random_bytes(std::size_t size) {
    std::mt19937 random(1);
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    return bytes;
}

std::string read(const std::filesystem::path& path, std::size_t most) {
    std::ifstream file(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    bytes.resize(std::min(bytes.size(), most));
    return bytes;
}

std::vector<std::filesystem::path> files_of(const char* folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

int usage() {
    std::fprintf(stderr, "usage: replay TARGET [FOLDER] | replay --input TARGET FILE...\ntargets:\n");
    for (const Target& target : kTargets) std::fprintf(stderr, "  %-15s %s\n", target.name.data(), target.doc.data());
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    bool as_they_are = argc > 3 && std::strcmp(argv[1], "--input") == 0;
    const Target* target = argc < 2 ? nullptr : find_target(argv[as_they_are ? 2 : 1]);
    if (target == nullptr || (!as_they_are && argc > 3)) return usage();
    __sanitizer_install_malloc_and_free_hooks(allocated, freed);
    Most most;
    if (!as_they_are && argc == 2)
        for (std::size_t size = 16; size <= 8192; size *= 2) replay(*target, random_bytes(size), most);
    std::vector<std::filesystem::path> files;
    if (as_they_are)
        files.assign(argv + 3, argv + argc);
    else if (argc == 3)
        files = files_of(argv[2]);
    for (const std::filesystem::path& file : files) {
        std::printf("%s\n", file.c_str());
        std::fflush(stdout);
        std::string seed = read(file, kMaxBytes);
        as_they_are ? run(*target, seed, most) : replay(*target, seed, most);
    }
    std::printf("%s: %zu inputs, at most %.2f s and %.1f MiB\n", target->name.data(), most.inputs, most.seconds,
                static_cast<double>(most.memory) / (1 << 20));
    return most.inputs == 0 ? 1 : 0;
}
