#include "analyze/knowledge/host_names.h"

#include <gtest/gtest.h>

namespace gpuprof {
namespace {

TEST(LoaderName, KnowsLoadersByWholeWords) {
    for (const char* name :
         {"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
          "torch/utils/data/dataloader.py(701): __next__", "data_loader", "load_batch", "get_batch", "NextBatch",
          "prefetch", "data", "batch", "data: next", "data/fetch", "tf.data iterator", "input_pipeline",
          "nvidia.dali.pipeline", "DALI", "data loading", "fetchBatch", "train.py(12): load_data"})
        EXPECT_TRUE(names_loader(name)) << name;
}

TEST(LoaderName, KnowsNoOthers) {
    for (const char* name :
         {"modality_encoder", "dataloader_free_path", "pre_forward_prefetch", "FSDP::pre_forward_prefetch",
          "FullyShardedDataParallel.forward", "next_token_sampler", "get_data_parallel_rank",
          "Optimizer.step#AdamW.step", "batch_norm", "input_layernorm", "aten::data_ptr", "metadata", "database",
          "offload_params", "load_state_dict", "forward", "", "ProfilerStep#3"})
        EXPECT_FALSE(names_loader(name)) << name;
}

}  // namespace
}  // namespace gpuprof
