// The version of a libcupti and what follows from it for recordings. The library is asked in a separate process, because
// some versions crash without a driver.
#pragma once

#include <cstdint>
#include <string>

namespace gpuprof::inline cli {

// As cuptiGetVersion answers; 0: it does not.
std::uint32_t ask_cupti_version(const std::string& path);

// "13.4 update 1"; "version N" if unknown.
std::string name_of_cupti(std::uint32_t version);

// How a recording would share it with other profilers in the program. `cuda` is the driver's version as
// cuDriverGetVersion answers.
std::string sharing_of_cupti(std::uint32_t version, int cuda);

}  // namespace gpuprof::cli
