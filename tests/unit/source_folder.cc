// The only file that is compiled with the path, so that compiled files of one checkout serve another (ccache).
#include "tests/unit/source_folder.h"

namespace gpuprof {

std::string source_folder() { return GPUPROF_SOURCE_DIR; }

}  // namespace gpuprof
