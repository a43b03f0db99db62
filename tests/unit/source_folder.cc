// The only file that is compiled with the path, so that compiled files of one checkout serve another (ccache).
#include "tests/unit/source_folder.h"

namespace gpuprof {

std::string source_folder() { return GPUPROF_SOURCE_DIR; }
std::string seed_folder() { return GPUPROF_SEED_DIR; }

}  // namespace gpuprof
