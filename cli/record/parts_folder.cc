#include "cli/record/parts_folder.h"

#include <algorithm>

namespace gpuprof::inline cli {
namespace {

std::string folder_of(const std::string& file) {
    std::size_t slash = file.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : file.substr(0, slash);
}

}  // namespace

std::string parts_folder(const std::string& output, const std::string& chosen, std::span<const std::string> candidates,
                         const std::function<StorageKind(const std::string&)>& storage) {
    if (!chosen.empty()) return chosen;
    std::string own = folder_of(output);
    if (storage(own) != StorageKind::network) return own;
    auto local = std::find_if(candidates.begin(), candidates.end(),
                              [&](const std::string& each) { return storage(each) == StorageKind::local; });
    return local == candidates.end() ? own : *local;
}

std::string parts_folder(const std::string& output, const std::string& chosen) {
    return parts_folder(output, chosen, temporary_folders(), storage_of);
}

}  // namespace gpuprof::cli
