// The launch that `--kernel` and `--launch` select.
#pragma once

#include "analyze/kernels/kernel_diagnosis.h"
#include "core/base/result.h"

namespace gpuprof::inline kernels {

struct SelectedKernel {
    const MeasuredGroup* group = nullptr;
    std::size_t launch = 0;  // in MeasuredKernels::launches
};

// An error if no kernel matches, with the names of those that there are.
Result<SelectedKernel> selected_kernel(const Facts& facts);

}  // namespace gpuprof::kernels
