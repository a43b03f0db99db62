// Where the sources lie, for tests that read fixtures and documents.
#pragma once

#include <string>

namespace gpuprof {

std::string source_folder();

}  // namespace gpuprof
