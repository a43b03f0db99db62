#include "core/base/path_search.h"

#include <unistd.h>

#include <algorithm>

namespace gpuprof {

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

}  // namespace gpuprof
