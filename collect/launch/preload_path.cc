#include "collect/launch/preload_path.h"

#include <errno.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <utility>
#include <vector>

namespace gpuprof::inline launch {

bool PreloadPath::holds(const std::string& path) { return path.find_first_of(" :$\t\n") == std::string::npos; }

Result<PreloadPath> PreloadPath::of(const std::string& library) {
    if (holds(library)) return PreloadPath(library, "");
    std::vector<std::string> places;
    for (const char* variable : {"TMPDIR", "XDG_RUNTIME_DIR"})
        if (const char* value = std::getenv(variable); value != nullptr && value[0] == '/') places.emplace_back(value);
    places.insert(places.end(), {"/tmp", "/dev/shm"});
    int why = ENOENT;
    for (const std::string& place : places) {
        if (!holds(place)) continue;
        std::string folder = place + "/gpu-profile-XXXXXX";
        if (mkdtemp(folder.data()) == nullptr) {
            why = errno;
            continue;
        }
        std::string link = folder + library.substr(library.rfind('/'));
        bool usable = holds(link) && symlink(library.c_str(), link.c_str()) == 0;
        if (usable) return PreloadPath(link, folder);
        why = errno;
        rmdir(folder.c_str());
    }
    return Error{
        ExitCode::not_permitted,
        fmt::format(
            "cannot preload {}: LD_PRELOAD does not support a character in its path, and no temporary folder accepts a "
            "link to it ({}); another profiler in the program may prevent recording of device work, and "
            "records of processes that exit through _exit are lost",
            library, std::strerror(why))};
}

PreloadPath::PreloadPath(PreloadPath&& other) noexcept
    : path_(std::exchange(other.path_, {})), folder_(std::exchange(other.folder_, {})) {}

PreloadPath::~PreloadPath() {
    if (folder_.empty()) return;
    unlink(path_.c_str());
    rmdir(folder_.c_str());
}

}  // namespace gpuprof::launch
