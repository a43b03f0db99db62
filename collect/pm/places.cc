// The loader's own places, the toolkit's, then Python's wheels: PREFIX/lib/pythonX.Y/site-packages/nvidia/... for the prefix
// of the recorded program and of the python in PATH, as found and with links resolved (a virtual environment's python is a
// link to the one it was made from), the environment that is switched on, and the user's own. Wheels: nvidia-cuda-cupti (13), nvidia-cuda-cupti-cu12.
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

void add_matching(const std::string& pattern, std::vector<std::string>& places) {
    glob_t found{};
    if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
        for (std::size_t i = 0; i < found.gl_pathc; ++i) places.emplace_back(found.gl_pathv[i]);
    globfree(&found);
}

void add_wheels(const std::string& prefix, std::vector<std::string>& places) {
    for (const char* packages :
         {"/lib/python3*/site-packages", "/lib/python3*/dist-packages", "/lib/python3/dist-packages"})
        for (const char* library : {"/nvidia/cu13/lib/libcupti.so.13", "/nvidia/cuda_cupti/lib/libcupti.so.1*"})
            add_matching(prefix + packages + library, places);
}

// The wheels of the Python that `program` is.
void add_wheels_of(const std::string& program, std::vector<std::string>& places) {
    if (std::size_t end = program.rfind("/bin/"); end != std::string::npos) add_wheels(program.substr(0, end), places);
}

}  // namespace

std::vector<std::string> cupti_places(const std::string& program,
                                      const std::function<std::string(const char* name)>& environment) {
    if (std::string named = environment("GPUPROF_CUPTI"); !named.empty()) return {named};
    std::vector<std::string> places{"libcupti.so.13", "libcupti.so.12"};
    for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
        if (std::string home = environment(name); !home.empty())
            places.push_back(home + "/extras/CUPTI/lib64/libcupti.so");
    for (const char* place :
         {"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so", "/usr/local/cuda/lib64/libcupti.so", "libcupti.so"})
        places.emplace_back(place);
    for (const std::string& name : {program, std::string("python3"), std::string("python")}) {
        std::string file = in_path(name, environment("PATH"));
        if (file.empty()) continue;
        add_wheels_of(file, places);
        add_wheels_of(resolved(file), places);
    }
    for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
        if (std::string home = environment(name); !home.empty()) add_wheels(home, places);
    if (std::string home = environment("HOME"); !home.empty()) add_wheels(home + "/.local", places);
    std::vector<std::string> once;
    for (std::string& place : places)
        if (std::find(once.begin(), once.end(), place) == once.end()) once.push_back(std::move(place));
    return once;
}

}  // namespace gpuprof::pm
