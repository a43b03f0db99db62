// Injects the collector into a program: environment variables that the CUDA driver and NVTX's client read, and a folder
// for the spool files of its processes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/program_environment.h"
#include "core/base/result.h"
#include "core/schema/recorder_settings.h"

namespace gpuprof::inline launch {

// A path for LD_PRELOAD. The variable holds several paths, separated by colons or spaces, and expands $ORIGIN and
// similar in them. A library whose path contains such characters is not found, and the dynamic linker complains on the
// standard error of each program. Such a library gets a symbolic link in a separate folder. The linker identifies a
// file by its inode, so the link and the file itself, which CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH name, are
// one library in a process. In programs that run with another user's rights (AT_SECURE) the linker ignores the
// variable.
class PreloadPath {
public:
    // Fails if no folder accepts a link. The library must not be preloaded then.
    static Result<PreloadPath> of(const std::string& library);
    PreloadPath(PreloadPath&& other) noexcept;
    PreloadPath& operator=(PreloadPath&&) = delete;
    // Removes the link.
    ~PreloadPath();

    const std::string& path() const { return path_; }
    // Whether LD_PRELOAD supports the path unchanged.
    static bool holds(const std::string& path);

private:
    PreloadPath(std::string path, std::string folder) : path_(std::move(path)), folder_(std::move(folder)) {}
    std::string path_, folder_;  // folder "": no link needed
};

struct InjectionOptions {
    bool cuda = true, nvtx = true;  // what is recorded at all
    std::string annotation;         // NAME or NAME@DOMAIN, for the ranges nvtx and iterations
    RecorderSettings recorder;      // for the library
};

// The files in a folder whose names end in `suffix`, by name.
std::vector<std::string> files_in(const std::string& folder, std::string_view suffix);
// The spool files in a folder, by name. An empty one belongs to a process that ended before it wrote anything.
std::vector<std::string> parts_in(const std::string& folder);
// The same; an error if the folder cannot be read whole.
Result<std::vector<std::string>> list_parts(const std::string& folder);

// A folder for the spool files of one run, removed with its content when this object is destroyed.
class SpoolFolder {
public:
    // Named after `path`, in the same folder.
    static Result<SpoolFolder> make(const std::string& path);
    SpoolFolder(SpoolFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
    SpoolFolder& operator=(SpoolFolder&&) = delete;
    ~SpoolFolder();

    const std::string& path() const { return path_; }
    std::vector<std::string> files() const { return parts_in(path_); }
    // Total size of its files in bytes.
    std::uint64_t bytes() const;
    // Ends the recording in every process injected with `limited`, within a quarter of a second.
    void report_disk_full() const;
    // Keeps the folder and its files.
    void keep() { path_.clear(); }

private:
    void remove() const;
    explicit SpoolFolder(std::string path) : path_(std::move(path)) {}
    std::string path_;
};

// The library next to this program; "" if not found.
std::string injected_library();

// Sets the variables in the environment of the target. `preload` is the path for LD_PRELOAD (preload_path.h), "" for none.
// Returns remarks for the user: variables that were already set and are kept.
std::vector<std::string> set_injection(ProgramEnvironment& environment, const std::string& library,
                                       const std::string& preload, const SpoolFolder& folder,
                                       const InjectionOptions& options);

}  // namespace gpuprof::launch
