#include "core/base/files/path_search.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/base/files/temporary_file.h"

namespace gpuprof {
namespace {

void write_file(const std::string& path, mode_t mode) {
    std::ofstream(path) << "#!/bin/true\n";
    chmod(path.c_str(), mode);
}

TEST(PathSearch, FindsTheFirstThatRuns) {
    Result<TemporaryFolder> folder = TemporaryFolder::make();
    ASSERT_TRUE(folder.ok());
    std::string a = folder->path() + "/a", b = folder->path() + "/b";
    for (const std::string& each : {a, b}) std::filesystem::create_directory(each);
    write_file(a + "/tool", 0600), write_file(b + "/tool", 0700);
    EXPECT_EQ(find_in_path("tool", "::" + a + ":/nowhere:" + b + ":"), b + "/tool");
    EXPECT_EQ(find_in_path("tool", "/a:/b", folder->path()), "/b/tool");
    EXPECT_EQ(find_in_path("tool", a), "");
    EXPECT_EQ(find_in_path("tool", ""), "");
    std::string relative = std::filesystem::relative(b);
    EXPECT_EQ(access((relative + "/tool").c_str(), X_OK), 0);
    EXPECT_EQ(find_in_path("tool", relative), "");
}

TEST(TemporaryFolder, GoesWithItsObject) {
    std::string path;
    {
        Result<TemporaryFolder> folder = TemporaryFolder::make();
        ASSERT_TRUE(folder.ok());
        TemporaryFolder moved = std::move(folder).value();
        path = moved.path();
        write_file(path + "/file", 0600);
        EXPECT_TRUE(std::filesystem::exists(path + "/file"));
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace gpuprof
