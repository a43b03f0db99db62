// Whether the name of a range or frame says that it fetches input: PyTorch's own range
// (enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__), its Python frames, and what people write in NVTX ranges.
#pragma once

#include <string_view>

namespace gpuprof {

// Whole words decide: "modality_encoder" has nothing of DALI, and what FSDP prefetches are parameters.
bool names_loader(std::string_view name);

}  // namespace gpuprof
