#include "cli/output.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/files/temporary_file.h"

namespace gpuprof::test {
namespace {

namespace fs = std::filesystem;

class CheckedOutputs : public ::testing::Test {
protected:
    void SetUp() override {
        fs::create_directory(path("runs"));
        for (const char* name : {"trace.json", "other.json", "runs/0.json"})
            std::ofstream(path(name)) << R"({"schemaVersion": 1, "traceEvents": []})";
        std::ofstream(path("runs/notes.txt")) << "no recording";
        fs::create_symlink("trace.json", path("link"));
        fs::create_hard_link(path("trace.json"), path("hard"));
    }
    std::string path(const std::string& name) const { return folder_->path() + "/" + name; }
    // "" when it may be written.
    std::string refused(const std::string& output, const std::vector<std::string>& inputs) const {
        std::vector<std::string> paths;
        for (const std::string& input : inputs) paths.push_back(path(input));
        Status status = check_output(path(output), paths);
        if (status.ok()) return "";
        EXPECT_EQ(status.error().code, ExitCode::usage);
        return status.error().message;
    }

    Result<TemporaryFolder> folder_ = TemporaryFolder::make();
};

TEST_F(CheckedOutputs, AnInputIsNotWrittenByAnyName) {
    EXPECT_NE(refused("trace.json", {"trace.json"}).find("it is also the input"), std::string::npos);
    for (const char* name : {"link", "hard", "runs/../trace.json"}) {
        EXPECT_NE(refused(name, {"other.json", "trace.json"}).find("the same file as the input"), std::string::npos);
        EXPECT_NE(refused("trace.json", {name}).find("the same file as the input"), std::string::npos);
    }
}

TEST_F(CheckedOutputs, NorIsARecordingOfAFolder) {
    EXPECT_NE(refused("runs/0.json", {"runs"}).find("one of the recordings in"), std::string::npos);
    EXPECT_EQ(refused("runs/notes.txt", {"runs"}), "");  // which reading the folder leaves out
}

TEST_F(CheckedOutputs, EverythingElseMayBeWritten) {
    EXPECT_EQ(refused("new", {"trace.json", "runs"}), "");
    EXPECT_EQ(refused("other.json", {"trace.json", "not there"}), "");
    EXPECT_TRUE(check_output("-", std::array<std::string, 2>{"-", ""}).ok());
    EXPECT_TRUE(check_output("/dev/null", std::array<std::string, 1>{"/dev/null"}).ok());
}

TEST_F(CheckedOutputs, OneFileIsNotTwoOutputs) {
    EXPECT_TRUE(check_outputs(std::array{path("a"), path("b"), std::string()}, {}).ok());
    EXPECT_TRUE(check_outputs(std::array<std::string, 2>{"/dev/null", "/dev/null"}, {}).ok());
    Status twice = check_outputs(std::array{path("a"), path("runs/../a")}, {});
    ASSERT_FALSE(twice.ok());
    EXPECT_NE(twice.error().message.find("give each output its own file"), std::string::npos);
}

}  // namespace
}  // namespace gpuprof::test
