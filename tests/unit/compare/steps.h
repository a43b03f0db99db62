// Drawn recordings of a loop: steps of 1 ms with noise, each with two kernels and a copy, idle time between.
#pragma once

#include <string>

#include "compare/compared_run.h"
#include "measure/random.h"
#include "tests/unit/analyze/draft.h"

namespace gpuprof::compare {

struct Loop {
    int steps = 50;
    double noise = 0.01;  // of the length of a step, normal
    double factor = 1;    // of everything
    double slower = 1;    // of the second kernel alone; the step grows by it
    std::string first = "void first<float, 4>(float*)", second = "second_kernel";
};

inline Trace trace_of(const Loop& loop, std::uint64_t seed) {
    measure::Random random(seed);
    Draft draft;
    TimeNs now = 1'000'000;
    for (int step = 0; step < loop.steps; ++step) {
        double stretch = loop.factor * (1 + loop.noise * random.normal());
        auto ns = [stretch](double length) { return static_cast<DurNs>(length * stretch); };
        DurNs second = ns(300'000 * loop.slower);
        TimeNs start = now, at = start + ns(50'000);
        draft.kernel(0, 7, at, at + ns(200'000), loop.first);
        at += ns(250'000);
        draft.kernel(0, 7, at, at + second, loop.second);
        at += second;
        draft.memcpy(0, 7, at, at + ns(100'000), "DtoH", 4096);
        now = start + ns(1'000'000 - 300'000) + second;
        draft.range("main", start, now, "ProfilerStep#" + std::to_string(step));
    }
    return draft.finish();
}

inline Run run_of(const Loop& loop, std::uint64_t seed) { return run_of(trace_of(loop, seed), Options{}); }

}  // namespace gpuprof::compare
