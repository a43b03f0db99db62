// `report --watch`: shows the answer again whenever one of the recordings changes.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/base/ids.h"

namespace gpuprof::inline cli {

// State of the files, or of the files in a folder: changes with each of them.
std::vector<std::string> file_stamps(std::span<const std::string> files);

// Calls `show` now and after each change, once no file has changed for a moment. Returns only if `show` answers false.
void show_on_change(std::span<const std::string> files, const std::function<bool()>& show);

}  // namespace gpuprof::cli
