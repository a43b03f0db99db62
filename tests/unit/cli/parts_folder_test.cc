// Where the parts of a recording are, by the file systems of the folders.
#include "cli/record/recording_parts.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace gpuprof {
namespace {

std::string folder(const std::string& output, const std::string& chosen, std::map<std::string, StorageKind> kinds) {
    std::vector<std::string> candidates = {"/scratch", "/var/tmp", "/tmp"};
    return parts_folder(output, chosen, candidates, [&](const std::string& each) { return kinds[each]; });
}

constexpr StorageKind kLocal = StorageKind::local, kNetwork = StorageKind::network, kMemory = StorageKind::memory;

TEST(PartsFolder, IsThatOfTheCapture) {
    EXPECT_EQ(folder("run.gpuprof", "", {{".", kLocal}, {"/tmp", kLocal}}), ".");
    EXPECT_EQ(folder("/run.gpuprof", "", {{"/", kLocal}, {"/tmp", kLocal}}), "/");
    EXPECT_EQ(folder("a/b/run.gpuprof", "", {{"a/b", kMemory}, {"/tmp", kLocal}}), "a/b");
    EXPECT_EQ(folder("/gone/run.gpuprof", "", {{"/gone", StorageKind::unknown}, {"/tmp", kLocal}}), "/gone");
}

TEST(PartsFolder, OfACaptureOnTheNetworkIsOnALocalDisk) {
    EXPECT_EQ(folder("/nfs/run.gpuprof", "", {{"/nfs", kNetwork}, {"/scratch", kLocal}, {"/tmp", kLocal}}), "/scratch");
    EXPECT_EQ(folder("/nfs/run.gpuprof", "",
                     {{"/nfs", kNetwork}, {"/scratch", kNetwork}, {"/var/tmp", kMemory}, {"/tmp", kLocal}}),
              "/tmp");
    EXPECT_EQ(folder("/nfs/run.gpuprof", "",
                     {{"/nfs", kNetwork}, {"/scratch", kMemory}, {"/var/tmp", kNetwork}, {"/tmp", kMemory}}),
              "/nfs");
}

TEST(PartsFolder, IsTheChosenOne) {
    EXPECT_EQ(folder("/nfs/run.gpuprof", "/mine", {{"/nfs", kNetwork}, {"/tmp", kLocal}}), "/mine");
}

TEST(PartsFolder, KnowsThisMachine) {
    EXPECT_EQ(storage_of("/dev/shm"), StorageKind::memory);
    EXPECT_EQ(storage_of("/no/such/folder"), StorageKind::unknown);
}

}  // namespace
}  // namespace gpuprof
