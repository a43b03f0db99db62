// Process groups by their names: what frameworks call the group of ranks that form a pipeline.
#pragma once

#include <string_view>

namespace gpuprof::inline knowledge {

// Megatron's PIPELINE_MODEL_PARALLEL_GROUP, torchtitan's and DeepSpeed's mesh_pp, pp, pipe_parallel ...
bool names_pipeline(std::string_view description);

}  // namespace gpuprof::knowledge
