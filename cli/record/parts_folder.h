// Where the parts of a recording are while its command runs: next to the capture, so that a full disk is noticed where it
// matters. But if the capture is on a file system of the network, on a local disk: a job of a thousand ranks would write
// to the shared one all the time.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "core/base/files/storage.h"

namespace gpuprof::inline cli {

// The folder for the parts of `output`: `chosen` if it is not empty (--parts); of a capture on the network, the first of
// `candidates` that is on a local disk; else that of the capture.
std::string parts_folder(const std::string& output, const std::string& chosen, std::span<const std::string> candidates,
                         const std::function<StorageKind(const std::string&)>& storage);

// Of this machine; temporary_folders() are candidates.
std::string parts_folder(const std::string& output, const std::string& chosen);

}  // namespace gpuprof::cli
