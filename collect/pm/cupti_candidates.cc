// The wheels of the Python that runs the recorded program, for that maps its own CUPTI; then the loader's own locations,
// the toolkits', and the wheels of other Pythons: PREFIX/lib/pythonX.Y/site-packages/nvidia/... for the prefix of the
// recorded program and of the python in PATH, both as found and with links resolved (a virtual environment's python is a
// link to the one it was created from), then the active environment, the user's and the system's. Wheels:
// nvidia-cuda-cupti (13), nvidia-cuda-cupti-cu12.
#include "collect/pm/cupti_candidates.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <span>
#include <utility>

#include "core/base/environment.h"
#include "core/base/files/names_in.h"
#include "core/base/files/path_search.h"

namespace gpuprof::pm {
namespace {

std::string resolved(const std::string& path) {
    char* real = realpath(path.c_str(), nullptr);
    std::string text = real == nullptr ? "" : real;
    std::free(real);
    return text;
}

// The files found, each once: a library has several names in its folder, and a toolkit's folder contains links.
class LibrarySearch {
public:
    explicit LibrarySearch(const std::string& root) : root_(root) {}

    void add_name(const char* name) { candidates_.emplace_back(name); }
    void add_folder(const std::string& folder) { add_matching(folder + "/libcupti.so*"); }
    void add_toolkit(const std::string& folder) {
        add_folder(folder + "/extras/CUPTI/lib64");
        add_folder(folder + "/lib64");
    }
    void add_wheels(const std::string& prefix) {
        for (const char* packages :
             {"/lib/python3*/site-packages", "/lib/python3*/dist-packages", "/lib/python3/dist-packages"})
            for (const char* library : {"/nvidia/cu13/lib/libcupti.so.13", "/nvidia/cuda_cupti/lib/libcupti.so.1*"})
                add_matching(prefix + packages + library);
    }
    // The wheels of the Python that `program` is.
    void add_wheels_of(const std::string& program) {
        if (std::size_t end = program.rfind("/bin/"); end != std::string::npos) add_wheels(program.substr(0, end));
    }
    std::vector<std::string> take() { return std::move(candidates_); }

private:
    void add_matching(const std::string& pattern) {
        for (std::string& path : matching_paths(root_ + pattern))
            if (files_.insert(resolved(path)).second) candidates_.push_back(std::move(path));
    }

    const std::string& root_;
    std::vector<std::string> candidates_;
    std::set<std::string> files_;
};

// Resolves links from `path`, below the root.
std::string target_of(const std::string& path, const std::string& root) {
    std::string target = resolved(root + path);
    return target.rfind(root, 0) == 0 ? target.substr(root.size()) : target;
}

std::string file_of(const std::string& program, const std::string& path, const std::string& root) {
    bool as_it_is = program.empty() || program.find('/') != std::string::npos;
    return as_it_is ? program : find_in_path(program, path, root);
}

// The Python that runs `file`: itself, or the one that its first line names; "" if the program is not Python.
std::string python_of(const std::string& file, const std::string& path, const std::string& root) {
    if (file.substr(file.rfind('/') + 1).starts_with("python")) return file;
    std::string line;
    if (std::ifstream script(root + file); file.empty() || !std::getline(script, line) || !line.starts_with("#!"))
        return "";
    std::string python = line.substr(line.find_last_of(" !") + 1);
    return python.find("python") != std::string::npos ? file_of(python, path, root) : "";
}

// CUPTI's answers where it is newer than the driver.
constexpr int kNotInitialized = 15, kUnknownError = 999;

}  // namespace

std::vector<std::string> cupti_candidates(const std::string& program,
                                          const std::function<std::string(const char* name)>& environment,
                                          const std::string& root) {
    if (std::string named = environment("GPUPROF_CUPTI"); !named.empty()) return {named};
    LibrarySearch places(root);
    if (program.find("/libcupti.so") != std::string::npos) places.add_name(program.c_str());
    std::string path = environment("PATH");
    if (std::string own = python_of(file_of(program, path, root), path, root); !own.empty()) {
        places.add_wheels_of(own);
        places.add_wheels_of(target_of(own, root));
    }
    places.add_name("libcupti.so.13");
    places.add_name("libcupti.so.12");
    for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
        if (std::string home = environment(name); !home.empty()) places.add_toolkit(home);
    for (const char* toolkit : {"/usr/local/cuda", "/usr/local/cuda-*", "/opt/cuda"}) places.add_toolkit(toolkit);
    places.add_folder("/usr/lib/*-linux-gnu");
    places.add_name("libcupti.so");
    for (const std::string& name : {program, std::string("python3"), std::string("python")}) {
        std::string file = file_of(name, path, root);
        if (file.empty()) continue;
        places.add_wheels_of(file);
        places.add_wheels_of(target_of(file, root));
    }
    for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
        if (std::string home = environment(name); !home.empty()) places.add_wheels(home);
    if (std::string home = environment("HOME"); !home.empty()) places.add_wheels(home + "/.local");
    for (const char* prefix : {"/usr/local", "/usr"}) places.add_wheels(prefix);
    return places.take();
}

Result<Library> find_cupti(const std::string& program, std::string_view what,
                           const std::function<const char*(const Library&)>& missing,
                           const std::function<int(const Library&)>& start) {
    std::string named = trusted_environment("GPUPROF_CUPTI"), old, newer, why = "no candidate";
    for (const std::string& place : cupti_candidates(program, trusted_environment)) {
        Result<Library> library = Library::open(std::span(&place, 1));
        if (!library.ok()) {
            why = library.error().message;
            continue;
        }
        const char* lacks = missing(*library);
        int code = lacks == nullptr && start != nullptr ? start(*library) : 0;
        bool refused = code == kNotInitialized || code == kUnknownError;
        if (lacks == nullptr && !refused) return library;
        if (refused && newer.empty()) newer = fmt::format("{} answers {}", library->path(), code);
        if (lacks != nullptr && old.empty())
            old = fmt::format("{} lacks {}: {} need CUPTI 12.6 or later", library->path(), lacks, what);
    }
    if (!newer.empty())
        return Error{ExitCode::empty, newer +
                                          ": it may be newer than the driver, and there is no other that works; "
                                          "install a CUPTI of the driver's CUDA version (nvidia-smi shows it)"};
    if (!old.empty()) return Error{ExitCode::empty, old + "; set GPUPROF_CUPTI to the path of one"};
    return Error{ExitCode::empty,
                 fmt::format("libcupti not found{}; pip install nvidia-cuda-cupti, or set GPUPROF_CUPTI to the path of "
                             "the library",
                             named.empty() ? "" : fmt::format(" ({})", why))};
}

void load_library_of_cupti(const std::string& cupti, const char* name) {
    std::string folder = cupti.substr(0, cupti.rfind('/') + 1);
    dlopen((folder + name).c_str(), RTLD_LAZY | RTLD_GLOBAL);
}

}  // namespace gpuprof::pm
