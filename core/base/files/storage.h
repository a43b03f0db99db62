// Where files are: the kind of file system that holds a folder, and the folders for temporary files.
#pragma once

#include <string>
#include <vector>

namespace gpuprof::inline base {

enum class StorageKind { local, memory, network, unknown };

// By the type of the file system. `unknown` if the folder cannot be asked.
StorageKind storage_of(const std::string& folder);

// TMPDIR if it is set, /var/tmp, /tmp.
std::vector<std::string> temporary_folders();

}  // namespace gpuprof::base
