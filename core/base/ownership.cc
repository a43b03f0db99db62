#include "core/base/ownership.h"

#include <fmt/format.h>
#include <unistd.h>

namespace gpuprof::inline base {

bool is_ours(const struct stat& about) { return about.st_uid == geteuid() || about.st_uid == 0; }

Status check_usual_place(const std::string& path, std::string_view option) {
    for (std::size_t slash = 0; slash != std::string::npos;) {
        slash = path.find('/', slash + 1);
        const std::string part = path.substr(0, slash);
        struct stat found {};
        if (lstat(part.c_str(), &found) == 0 && S_ISLNK(found.st_mode))
            return Error{ExitCode::not_permitted,
                         fmt::format("cannot use {}: {} is a link, which is only followed if it is given with {}", path,
                                     part, option)};
    }
    return {};
}

}  // namespace gpuprof::base
