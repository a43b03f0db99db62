// The loader's own places, the toolkit's, then Python's wheels: PREFIX/lib/pythonX.Y/site-packages/nvidia/... for the prefix
// of the recorded program and of the python in PATH, as found and with links resolved (a virtual environment's python is a
// link to the one it was made from). Wheels: nvidia-cuda-cupti (13), nvidia-cuda-cupti-cu12.
#include "collect/pm/places.h"

#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace gpuprof::pm {
namespace {

std::string in_path(const std::string& program, const std::string& path) {
    if (program.empty() || program.find('/') != std::string::npos) return program;
    std::istringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');)
        if (std::string file = folder + "/" + program; !folder.empty() && access(file.c_str(), X_OK) == 0) return file;
    return {};
}

std::string resolved(const std::string& path) {
    char* real = realpath(path.c_str(), nullptr);
    std::string text = real == nullptr ? "" : real;
    std::free(real);
    return text;
}

void add_wheels(const std::string& program, std::vector<std::string>& places) {
    std::size_t end = program.rfind("/bin/");
    if (end == std::string::npos) return;
    std::string prefix = program.substr(0, end);
    for (const char* packages :
         {"/lib/python3*/site-packages", "/lib/python3*/dist-packages", "/lib/python3/dist-packages"})
        for (const char* library : {"/nvidia/cu13/lib/libcupti.so.13", "/nvidia/cuda_cupti/lib/libcupti.so.1*"}) {
            glob_t found{};
            if (glob((prefix + packages + library).c_str(), 0, nullptr, &found) == 0)
                for (std::size_t i = 0; i < found.gl_pathc; ++i) places.emplace_back(found.gl_pathv[i]);
            globfree(&found);
        }
}

}  // namespace

std::vector<std::string> cupti_places(const std::string& named, const std::string& program, const std::string& path) {
    if (!named.empty()) return {named};
    std::vector<std::string> places{"libcupti.so.13", "libcupti.so.12",
                                    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
                                    "/usr/local/cuda/lib64/libcupti.so", "libcupti.so"};
    for (const std::string& name : {program, std::string("python3"), std::string("python")}) {
        std::string file = in_path(name, path);
        if (file.empty()) continue;
        add_wheels(file, places);
        add_wheels(resolved(file), places);
    }
    std::vector<std::string> once;
    for (std::string& place : places)
        if (std::find(once.begin(), once.end(), place) == once.end()) once.push_back(std::move(place));
    return once;
}

}  // namespace gpuprof::pm
