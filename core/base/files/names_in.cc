#include "core/base/files/names_in.h"

#include <dirent.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace gpuprof::inline base {

Result<std::vector<std::string>> list_names(const std::string& folder) {
    std::vector<std::string> names;
    std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
    auto fail = [&](int error) {
        return Error{ExitCode::unreadable, fmt::format("cannot read {}: {}", folder, std::strerror(error))};
    };
    if (!open) return fail(errno);
    while (true) {
        errno = 0;
        const dirent* entry = readdir(open.get());
        if (entry == nullptr && errno != 0) return fail(errno);
        if (entry == nullptr) break;
        std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<std::string> names_in(const std::string& folder) {
    Result<std::vector<std::string>> names = list_names(folder);
    return names.ok() ? std::move(names).value() : std::vector<std::string>();
}

std::vector<std::string> matching_paths(const std::string& pattern) {
    std::vector<std::string> found{pattern.starts_with('/') ? "/" : ""};
    for (std::size_t begin = 0; begin < pattern.size();) {
        std::size_t end = std::min(pattern.find('/', begin), pattern.size());
        std::string part = pattern.substr(begin, end - begin);
        begin = end + 1;
        if (part.empty()) continue;
        std::vector<std::string> longer;
        for (const std::string& path : found) {
            std::string before = path.empty() || path == "/" ? path : path + "/";
            if (part.find_first_of("*?[") == std::string::npos) {
                longer.push_back(before + part);
                continue;
            }
            for (const std::string& name : names_in(before.empty() ? "." : before))
                if (fnmatch(part.c_str(), name.c_str(), FNM_PERIOD) == 0) longer.push_back(before + name);
        }
        found = std::move(longer);
    }
    struct stat about {};
    std::erase_if(found, [&](const std::string& path) { return lstat(path.c_str(), &about) != 0; });
    return found;
}

}  // namespace gpuprof::base
