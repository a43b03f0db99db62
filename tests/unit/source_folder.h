// Where the sources lie, for tests that read fixtures and documents.
#pragma once

#include <string>

namespace gpuprof {

std::string source_folder();
std::string seed_folder();  // of the fuzz targets, one folder each

}  // namespace gpuprof
