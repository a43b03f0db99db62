// A program that uses CUDA, for tests of the collector without a GPU. It links to no libcuda: dlopen("libcuda.so.1"), so
// LD_LIBRARY_PATH decides which. What the device did is a script (tests/fakes/cupti/script.py).
//
//   fake_program [--script FILE] [--play OPTIONS] [--threads N] [--times N] [--nvtx] [--nvtx-first] [--profiler-range] [--no-cuda]
//                [--sleep-ms N] [--brief N] [--exec N] [--fork N] [--spawn N] [--end exit|_exit|quick|abort|kill|thread] [--end-after-us N]
//
//   --script FILE        what to play; without it nothing is played
//   --play OPTIONS       of tests/fakes/cupti/cupti_play.h
//   --threads N          N threads play it, each with correlation ids of its own (default 1)
//   --times N            one after the other (default 1)
//   --nvtx               ranges, marks and a domain around it
//   --nvtx-first         a mark before cuInit
//   --profiler-range     plays between cuProfilerStart and cuProfilerStop
//   --kineto FILE        another profiler (tests/fakes/kineto), mapped before cuInit, records what is played, and says in FILE what
//                        it got; the script is played once more before it starts and once more after it stops
//   --kineto-first       it starts before cuInit, and so sees the first play too
//   --no-cuda            leaves libcuda alone
//   --sleep-ms N         after playing
//   --brief N            starts N threads one after the other that annotate once and end at once
//   --exec N             becomes itself by execve N times, after cuInit and an annotation each time
//   --fork N             forks N children after cuInit, one after the other; each ends at once by _exit(0)
//   --spawn N            starts N copies of itself, without --fork and --spawn, before cuInit, and waits for them
//   --end HOW            how to end: exit(5), _exit(5), quick_exit(5), abort, SIGKILL to itself, exit(5) from another thread
//   --end-after-us N     exits N microseconds after cuInit, whatever it is doing (default: after the other work)
//
// Exit status: 5 by --end, else 0; 70 when the client of the fake libcupti broke a rule of buffers; 71 when CUDA is missing.
#include <dlfcn.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "tests/fakes/cuda/fake_nvtx.h"

extern char** environ;

namespace {

constexpr int kEnded = 5, kBreach = 70, kNoCuda = 71, kUsage = 2;

struct Options {
    std::string script, play, end, kineto;
    long threads = 1, times = 1, sleep_ms = 0, briefs = 0, execs = 0, forks = 0, spawns = 0, end_after_us = -1;
    bool nvtx = false, nvtx_first = false, profiler_range = false, no_cuda = false, kineto_first = false;
};

struct Cuda {
    int (*init)(unsigned) = nullptr;
    int (*profiler_start)() = nullptr;
    int (*profiler_stop)() = nullptr;
    int (*play)(const char*, const char*) = nullptr;
    std::size_t (*breaches)() = nullptr;
    int (*retain_context)(void**, int) = nullptr;
    int (*set_context)(void*) = nullptr;

    bool load() {
        void* library = dlopen("libcuda.so.1", RTLD_NOW);
        if (library == nullptr) return false;
        auto find = [library](auto& function, const char* name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
            return function != nullptr;
        };
        return find(init, "cuInit") && find(profiler_start, "cuProfilerStart") &&
               find(profiler_stop, "cuProfilerStop") && find(play, "fake_cuda_play") &&
               find(breaches, "fake_cuda_breaches") && find(retain_context, "cuDevicePrimaryCtxRetain") &&
               find(set_context, "cuCtxSetCurrent");
    }
};

// The other profiler in the process.
struct Kineto {
    void (*start)(const char* file) = nullptr;
    void (*stop)() = nullptr;

    bool load() {
        void* library = dlopen("libfake_kineto.so", RTLD_NOW);
        if (library == nullptr) return false;
        start = reinterpret_cast<void (*)(const char*)>(dlsym(library, "fake_kineto_start"));
        stop = reinterpret_cast<void (*)()>(dlsym(library, "fake_kineto_stop"));
        return start != nullptr && stop != nullptr;
    }
};

[[noreturn]] void refuse(const char* what, const char* word) {
    std::fprintf(stderr, "fake_program: %s '%s'; see tests/fakes/cuda/fake_program.cc\n", what, word);
    std::exit(kUsage);
}

Options parse(int count, char** words) {
    Options options;
    for (int i = 1; i < count; ++i) {
        std::string word = words[i];
        auto value = [&]() -> const char* {
            if (i + 1 == count) refuse("no value for", word.c_str());
            return words[++i];
        };
        auto number = [&] { return std::atol(value()); };
        if (word == "--script")
            options.script = value();
        else if (word == "--play")
            options.play = value();
        else if (word == "--kineto")
            options.kineto = value();
        else if (word == "--end")
            options.end = value();
        else if (word == "--threads")
            options.threads = number();
        else if (word == "--times")
            options.times = number();
        else if (word == "--sleep-ms")
            options.sleep_ms = number();
        else if (word == "--brief")
            options.briefs = number();
        else if (word == "--exec")
            options.execs = number();
        else if (word == "--fork")
            options.forks = number();
        else if (word == "--spawn")
            options.spawns = number();
        else if (word == "--end-after-us")
            options.end_after_us = number();
        else if (word == "--nvtx")
            options.nvtx = true;
        else if (word == "--nvtx-first")
            options.nvtx_first = true;
        else if (word == "--profiler-range")
            options.profiler_range = true;
        else if (word == "--kineto-first")
            options.kineto_first = true;
        else if (word == "--no-cuda")
            options.no_cuda = true;
        else
            refuse("unknown option", word.c_str());
    }
    return options;
}

void end_by(const std::string& how) {
    if (how == "exit") std::exit(kEnded);
    if (how == "_exit") _exit(kEnded);
    if (how == "quick") std::quick_exit(kEnded);
    if (how == "abort") std::abort();
    if (how == "kill") raise(SIGKILL);
    if (how == "thread") {
        std::thread([] { std::exit(kEnded); }).detach();
        for (;;) pause();
    }
    if (!how.empty()) refuse("unknown end", how.c_str());
}

int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

// Whether all children ended well.
bool fork_children(const Options& options) {
    for (long i = 0; i < options.forks; ++i) {
        pid_t child = fork();
        if (child == 0) {
            if (options.nvtx) fake_nvtx::push("in child"), fake_nvtx::pop();
            _exit(0);
        }
        if (child < 0 || wait_for(child) != 0) return false;
    }
    return true;
}

void annotate_briefly(const Options& options) {
    for (long i = 0; i < options.briefs; ++i)
        std::thread([] {
            fake_nvtx::push("brief");
            fake_nvtx::pop();
        }).join();
}

// Becomes itself with one --exec less; comes back when there is none left.
bool exec_again(const Options& options, int count, char** words) {
    if (options.execs <= 0) return true;
    fake_nvtx::mark("before exec");
    std::string left = std::to_string(options.execs - 1);
    std::vector<char*> arguments(words, words + count);
    for (int i = 0; i + 1 < count; ++i)
        if (std::strcmp(words[i], "--exec") == 0) arguments[static_cast<std::size_t>(i) + 1] = left.data();
    arguments.push_back(nullptr);
    execve("/proc/self/exe", arguments.data(), environ);
    return false;
}

bool spawn_copies(const Options& options, int count, char** words) {
    std::vector<char*> arguments;
    for (int i = 0; i < count; ++i) {
        bool skip = std::strcmp(words[i], "--spawn") == 0 || std::strcmp(words[i], "--fork") == 0;
        if (skip)
            ++i;
        else
            arguments.push_back(words[i]);
    }
    arguments.push_back(nullptr);
    std::vector<pid_t> children(static_cast<std::size_t>(options.spawns));
    for (pid_t& child : children)
        if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments.data(), environ) != 0) return false;
    bool all = true;
    for (pid_t child : children) {
        int status = wait_for(child);
        bool expected =
            WIFSIGNALED(status) ? !options.end.empty() : WEXITSTATUS(status) == (options.end.empty() ? 0 : kEnded);
        all = all && expected;
    }
    return all;
}

void play_on_thread(const Options& options, const Cuda& cuda, long number) {
    std::string name = "player " + std::to_string(number);
    void* context = nullptr;
    if (cuda.retain_context && cuda.retain_context(&context, 0) == 0) cuda.set_context(context);
    if (options.nvtx) {
        fake_nvtx::name_thread(static_cast<std::uint32_t>(syscall(SYS_gettid)), name.c_str());
        fake_nvtx::push(name.c_str());
    }
    for (long turn = 0; turn < options.times; ++turn) {
        if (options.nvtx) fake_nvtx::push("turn");
        std::string how = options.play + " first=" + std::to_string(number * options.times + turn);
        if (!options.script.empty() && cuda.play && cuda.play(options.script.c_str(), how.c_str()) != 0)
            refuse("cannot play", options.script.c_str());
        if (options.nvtx) fake_nvtx::pop();
    }
    if (options.nvtx) fake_nvtx::pop();
}

// `first` numbers the sets of correlation ids.
void play(const Options& options, const Cuda& cuda, long first) {
    if (options.threads == 1) return play_on_thread(options, cuda, first);
    std::vector<std::thread> threads;
    for (long i = 0; i < options.threads; ++i)
        threads.emplace_back(play_on_thread, std::cref(options), std::cref(cuda), first + i);
    for (std::thread& thread : threads) thread.join();
}

}  // namespace

int main(int count, char** words) {
    Options options = parse(count, words);
    if (!options.script.empty()) setenv("GPUPROF_FAKE_CUDA_SCRIPT", options.script.c_str(), 0);
    if (!spawn_copies(options, count, words)) {
        std::fprintf(stderr, "fake_program: a copy did not end as it should\n");
        return 1;
    }
    Kineto kineto;
    if (!options.kineto.empty() && !kineto.load()) refuse("no second profiler for", options.kineto.c_str());
    if (options.kineto_first) kineto.start(options.kineto.c_str());
    if (options.nvtx_first) fake_nvtx::mark("before cuInit");
    Cuda cuda;
    if (!options.no_cuda && (!cuda.load() || cuda.init(0) != 0)) {
        std::fprintf(stderr, "fake_program: no CUDA here\n");
        return kNoCuda;
    }
    if (options.end_after_us >= 0)
        std::thread([&options] {
            std::this_thread::sleep_for(std::chrono::microseconds(options.end_after_us));
            end_by(options.end);
        }).detach();
    std::uint64_t range = 0;
    if (options.nvtx) {
        range = fake_nvtx::range_start("whole");
        fake_nvtx::push_in_domain("fake", "registered", 7, "test", 42);
    }
    if (!exec_again(options, count, words) || !fork_children(options)) return 1;
    annotate_briefly(options);
    if (options.profiler_range && cuda.profiler_start) cuda.profiler_start();
    if (!options.kineto.empty()) {
        play(options, cuda, 100);
        if (!options.kineto_first) kineto.start(options.kineto.c_str());
    }
    play(options, cuda, 0);
    if (!options.kineto.empty()) {
        kineto.stop();
        play(options, cuda, 200);
    }
    if (options.profiler_range && cuda.profiler_stop) cuda.profiler_stop();
    std::this_thread::sleep_for(std::chrono::milliseconds(options.sleep_ms));
    if (options.nvtx) {
        fake_nvtx::mark("played");
        fake_nvtx::pop_in_domain();
        fake_nvtx::range_end(range);
    }
    while (options.end_after_us >= 0) pause();
    end_by(options.end);
    return cuda.breaches && cuda.breaches() > 0 ? kBreach : 0;
}
