// Whose files are trusted. What another user can put somewhere may be anything; root's files are no worse than this program itself. Every
// use of a file as one's own asks here. Also the places that this program chooses itself in the current folder, which may be a received one.
#pragma once

#include <sys/stat.h>

#include <string>

#include "core/base/result.h"

namespace gpuprof::inline base {

// Whether this user or root owns the file.
bool is_ours(const struct stat& about);

// Of a relative path that the user did not give: an error if a part of it is a link, which could lead to any file. `option` says how to give one.
Status check_usual_place(const std::string& path, std::string_view option);

}  // namespace gpuprof::base
