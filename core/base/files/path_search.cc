#include "core/base/files/path_search.h"

#include <limits.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cstdlib>

namespace gpuprof::inline base {

std::string find_in_path(std::string_view program, std::string_view folders, const std::string& root) {
    while (!folders.empty()) {
        std::size_t end = std::min(folders.find(':'), folders.size());
        std::string file(folders.substr(0, end));
        file += '/';
        file += program;
        if (file[0] == '/' && end > 0 && access((root + file).c_str(), X_OK) == 0) return file;
        folders.remove_prefix(std::min(end + 1, folders.size()));
    }
    return {};
}

std::string find_program(std::string_view name) {
    if (name.find('/') != std::string_view::npos) return std::string(name);
    const char* path = std::getenv("PATH");
    return find_in_path(name, path == nullptr ? "" : path);
}

std::string this_executable() {
    std::array<char, PATH_MAX> path{};
    ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
    return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : std::string();
}

std::string installed_file(std::string_view name) {
    std::string program = this_executable();
    std::string folder = program.substr(0, program.rfind('/'));
    std::string prefix = folder.substr(0, folder.rfind('/'));
    for (const std::string& place : {folder + "/", prefix + "/lib/gpu-profile/", prefix + "/lib/"})
        if (std::string file = place + std::string(name); access(file.c_str(), R_OK) == 0) return file;
    return {};
}

}  // namespace gpuprof::base
