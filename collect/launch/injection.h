// How the collector gets into a program: environment variables that the CUDA driver and NVTX's client look at, and a folder
// where each process leaves its spool file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/schema/recorder_settings.h"

namespace gpuprof {

struct InjectionOptions {
    bool cuda = true, nvtx = true;  // what is recorded at all
    std::string annotation;         // NAME or NAME@DOMAIN, for the ranges nvtx and iterations
    RecorderSettings recorder;      // for the library
};

// The spool files in a folder, by name. An empty one is of a process that ended before it wrote anything.
std::vector<std::string> parts_in(const std::string& folder);

// A folder of its own for the spool files of one run, removed with what is in it when this object goes.
class SpoolFolder {
public:
    // Beside `output`, so that merging moves nothing across file systems.
    static Result<SpoolFolder> make(const std::string& output);
    SpoolFolder(SpoolFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
    SpoolFolder& operator=(SpoolFolder&&) = delete;
    ~SpoolFolder();

    const std::string& path() const { return path_; }
    std::vector<std::string> files() const { return parts_in(path_); }
    // Bytes of all files in it.
    std::uint64_t bytes() const;
    // Ends the recording in every process that was injected with `limited`, within a quarter of a second.
    void say_full() const;
    // Leaves folder and files where they are.
    void keep() { path_.clear(); }

private:
    explicit SpoolFolder(std::string path) : path_(std::move(path)) {}
    std::string path_;
};

// The library beside this program; "" when it is not there.
std::string injected_library();

// Sets the variables in this process's environment, for the target to inherit. `preload` names the same library for LD_PRELOAD
// (preload_path.h), "" when it is not to be preloaded. Remarks for the user: what was set already and is left alone.
std::vector<std::string> set_injection(const std::string& library, const std::string& preload,
                                       const SpoolFolder& folder, const InjectionOptions& options);

}  // namespace gpuprof
