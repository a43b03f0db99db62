// Recordings of real programs for tests of replays: every trace of tests/fixtures that a tool wrote with device ops and calls.
#pragma once

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <vector>

#include "io/importers/importer.h"
#include "tests/unit/source_folder.h"

namespace gpuprof::test {

inline std::vector<std::string> recordings() {
    std::vector<std::string> files;
    for (const char* folder : {"kineto", "public", "nsys", "jax"})
        for (const auto& entry : std::filesystem::directory_iterator(source_folder() + "/tests/fixtures/" + folder))
            if (entry.path().extension() == ".gz") files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());
    return files;
}

// The name of a test: the file's name as letters, digits and underscores.
inline std::string test_name(const std::string& file) {
    std::filesystem::path path(file);
    std::string name = path.parent_path().filename().string() + "_" + path.filename().string();
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return name;
}

}  // namespace gpuprof::test
