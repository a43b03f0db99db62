// Recordings without the folders and users of the machine that they were made or exported on, for pages that are sent to
// others. Unlike `scrub` (scrub.h) it keeps names of files, programs and functions: they are what the page is about.
//
// A path becomes the part below a package folder ("torch/nn/modules/module.py") or the name of its file ("train.py");
// "~" stands for a folder. Paths of the system ("/usr/bin/python3") stay. In names that programs choose (ranges, kernels,
// operators), where "/" is common, only paths below a home folder or a given folder are replaced.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/trace.h"
#include "core/schema/privacy.h"

namespace gpuprof::inline model {

struct PrivateNames {
    std::vector<std::string> folders = {};  // absolute, without a slash at the end
    std::vector<std::string> users = {};    // those of home folders in the recording are found in it
    // The name to show for a path, such as its place below a folder of sources; "" for the usual one.
    std::function<std::string(std::string_view path)> place = {};
};

std::string without_folders(std::string_view text, Privacy privacy, const PrivateNames& names);
Trace without_folders(Trace trace, PrivateNames names);

}  // namespace gpuprof::model
