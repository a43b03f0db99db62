#include "cli/record/parts_folder.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace gpuprof {
namespace {

// Those that <linux/magic.h> lacks. Source: statfs(2) and the file systems' own headers.
constexpr std::uint32_t kLustre = 0x0BD00BD0, kGpfs = 0x47504653, kBeeGfs = 0x19830326, kCifs = 0xFF534D42,
                        kSmb2 = 0xFE534D42, kFuse = 0x65735546, kCeph = 0x00C36400;
constexpr std::uint32_t kNetwork[] = {NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, AFS_SUPER_MAGIC, V9FS_MAGIC, kLustre, kGpfs,
                                      kBeeGfs,         kCifs,           kSmb2,           kFuse,      kCeph};
constexpr std::uint32_t kMemory[] = {TMPFS_MAGIC, RAMFS_MAGIC};

std::string folder_of(const std::string& file) {
    std::size_t slash = file.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : file.substr(0, slash);
}

}  // namespace

StorageKind storage_of(const std::string& folder) {
    struct statfs about {};
    if (statfs(folder.c_str(), &about) != 0) return StorageKind::unknown;
    auto is_one_of = [&](const auto& types) {
        return std::find(std::begin(types), std::end(types), static_cast<std::uint32_t>(about.f_type)) !=
               std::end(types);
    };
    return is_one_of(kNetwork) ? StorageKind::network : is_one_of(kMemory) ? StorageKind::memory : StorageKind::local;
}

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
    std::vector<std::string> candidates;
    if (const char* named = std::getenv("TMPDIR"); named != nullptr && *named != '\0') candidates.emplace_back(named);
    candidates.insert(candidates.end(), {"/var/tmp", "/tmp"});
    return parts_folder(output, chosen, candidates, storage_of);
}

}  // namespace gpuprof
