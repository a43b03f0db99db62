// The trace that SQL is tried on, by its tests and its fuzz target: kernels of three names on three devices and five streams, a
// launch for each, and one copy.
#pragma once

#include "tests/unit/analyze/draft.h"

namespace gpuprof {

inline Trace small_trace(int kernels) {
    constexpr const char* kNames[] = {"gemm", "Relu", "add", "add"};
    Draft draft;
    for (int i = 0; i < kernels; ++i) {
        draft.kernel(i % 3, i % 5, 100 * i, 100 * i + 50 + i, kNames[i % 4], i);
        draft.call("main", 100 * i - 20, 100 * i - 10, "cudaLaunchKernel", i);
    }
    draft.memcpy(0, 7, 0, 200, "HtoD", 4096);
    return draft.finish();
}

}  // namespace gpuprof
