#include "cli/recording.h"

#include <filesystem>

namespace gpuprof {

bool is_path(const std::string& word) {
    std::error_code unknown;
    return word == "-" || std::filesystem::exists(word, unknown);
}

}  // namespace gpuprof
