// Where the running program's file is.
#pragma once

#include <string>

namespace gpuprof {

// Its absolute path, links resolved; "" when the system does not tell.
std::string own_program();

}  // namespace gpuprof
