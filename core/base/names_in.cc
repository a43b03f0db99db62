#include "core/base/names_in.h"

#include <dirent.h>
#include <fmt/format.h>

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

}  // namespace gpuprof::base
