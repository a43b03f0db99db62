// Which files that a recording names may be opened. It may come from elsewhere and name anything, so that only regular files are opened, below
// the folders that the user gave; links are followed before that is decided, and devices and pipes are never opened. Every reader asks here.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace gpuprof::inline base {

class NamedFiles {
public:
    // `given`: files and folders that the user named. A file stands for its folder.
    explicit NamedFiles(const std::vector<std::string>& given);

    // The file's path without links; an error that says why it is not opened: ExitCode::internal if
    // looking it up failed.
    Result<std::string> find(const std::string& name) const;

private:
    std::vector<std::string> folders_;  // without links, with a slash at the end
};

}  // namespace gpuprof::base
