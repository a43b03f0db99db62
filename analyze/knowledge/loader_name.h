// Whether a range or frame fetches input, by its name: PyTorch's range
// (enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__), its Python frames, and common names of NVTX ranges.
#pragma once

#include <string_view>

namespace gpuprof::inline knowledge {

// Only whole words match: "modality_encoder" is not DALI. FSDP prefetches parameters, not input.
bool names_loader(std::string_view name);

}  // namespace gpuprof::knowledge
