#include "core/base/files/storage.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>

namespace gpuprof::inline base {
namespace {

// Those that <linux/magic.h> lacks. Source: statfs(2) and the file systems' own headers.
constexpr std::uint32_t kLustre = 0x0BD00BD0, kGpfs = 0x47504653, kBeeGfs = 0x19830326, kCifs = 0xFF534D42,
                        kSmb2 = 0xFE534D42, kFuse = 0x65735546, kCeph = 0x00C36400;
constexpr std::uint32_t kNetwork[] = {NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, AFS_SUPER_MAGIC, V9FS_MAGIC, kLustre, kGpfs,
                                      kBeeGfs,         kCifs,           kSmb2,           kFuse,      kCeph};
constexpr std::uint32_t kMemory[] = {TMPFS_MAGIC, RAMFS_MAGIC};

}  // namespace

StorageKind storage_of(const std::string& folder) {
    struct statfs about {};
    if (statfs(folder.c_str(), &about) != 0) return StorageKind::unknown;
    auto is_one_of = [&](const auto& types) {
        auto type = static_cast<std::uint32_t>(about.f_type);
        return std::find(std::begin(types), std::end(types), type) != std::end(types);
    };
    if (is_one_of(kNetwork)) return StorageKind::network;
    return is_one_of(kMemory) ? StorageKind::memory : StorageKind::local;
}

std::vector<std::string> temporary_folders() {
    std::vector<std::string> folders;
    if (const char* named = std::getenv("TMPDIR"); named != nullptr && *named != '\0') folders.emplace_back(named);
    folders.insert(folders.end(), {"/var/tmp", "/tmp"});
    return folders;
}

}  // namespace gpuprof::base
