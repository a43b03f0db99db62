// What an exported page must not name: the folders and the name of the user who exports it.
#pragma once

#include <span>
#include <string>

#include "core/model/privacy/private_paths.h"

namespace gpuprof::inline cli {

// The home and working folders, those of `files`, and the name of the user. Files below the folder `sources`, if one is
// given, are shown with their place in it.
PrivateNames private_names(std::span<const std::string> files, const std::string& sources);

}  // namespace gpuprof::cli
