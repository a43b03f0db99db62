// Compares kernel by kernel: how it was matched, its time per step, whether its launches became faster, and how its
// launch shape changed.
#pragma once

#include "compare/kernel_pairs.h"
#include "core/model/result_table.h"

namespace gpuprof::compare {

ResultTable kernels_table(const Run& base, const KernelNames& base_names, const Run& next, const KernelNames& new_names,
                          const KernelPairs& pairs);

}  // namespace gpuprof::compare
