// The tables of `kernel-info`: what each kernel of a cubin needs, and its source lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/result_table.h"
#include "io/cubin/cubin.h"

namespace gpuprof::inline cli {

// A file in memory, as a cubin.
struct CubinFile {
    std::string name, bytes;
    cubin::Cubin cubin;
};

struct KernelQuestion {
    std::vector<std::int64_t> threads;      // block sizes; empty: each kernel's launch bounds, or 256
    std::int64_t dynamic_shared_bytes = 0;  // per block, in addition to what the kernel declares
};

// One row per kernel and block size. Fails if a line table cannot be read.
Result<ResultTable> kernel_table(const std::vector<CubinFile>& files, const KernelQuestion& question);

// One row per stretch of instructions of one source line.
Result<ResultTable> line_table(const std::vector<CubinFile>& files);

}  // namespace gpuprof::cli
