#include "core/base/names_in.h"

#include <dirent.h>

#include <algorithm>
#include <memory>
#include <string_view>

namespace gpuprof::inline base {

std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
    while (open) {
        const dirent* entry = readdir(open.get());
        if (entry == nullptr) break;
        std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace gpuprof::base
