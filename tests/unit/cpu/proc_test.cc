// What is read from /proc: the text of stat, and who belongs to a command, on a made-up system in a folder.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "collect/cpu/process_tree.h"

namespace gpuprof {
namespace {

std::string stat_line(std::string_view name, pid_t parent, long start = 1000) {
    return "1 (" + std::string(name) + ") S " + std::to_string(parent) +
           " 1 1 0 -1 4194304 100 0 0 0 25 7 0 0 20 0 1 0 " + std::to_string(start) + " 3133440 380 184467440 1 2\n";
}

TEST(ProcStat, ReadsTheFieldsItNames) {
    std::string line = stat_line("a) (b c", 42);
    std::optional<ProcStat> stat = parse_stat(line);
    ASSERT_TRUE(stat);
    EXPECT_EQ(stat->name, "a) (b c");
    EXPECT_EQ(stat->state, 'S');
    EXPECT_EQ(stat->parent, 42);
    EXPECT_EQ(stat->user_ticks, 25);
    EXPECT_EQ(stat->system_ticks, 7);
    EXPECT_EQ(stat->start_ticks, 1000);
    EXPECT_EQ(stat->resident_pages, 380);
}

TEST(ProcStat, RefusesEveryCutLine) {
    std::string line = stat_line("name", 42);
    std::size_t resident = line.find(" 380");
    for (std::size_t size = 0; size <= resident; ++size)
        EXPECT_FALSE(parse_stat(std::string_view(line).substr(0, size))) << size;
    EXPECT_FALSE(parse_stat("1 (x) S no 1 1 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 5 5 5"));
    EXPECT_FALSE(parse_stat(") ("));
}

class MadeUpSystem : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "procXXXXXX";
        root_ = mkdtemp(pattern.data());
    }
    void TearDown() override { std::filesystem::remove_all(root_); }
    void add(pid_t pid, pid_t parent, long start = 1000, std::string_view environment = "") {
        std::string folder = root_ + "/" + std::to_string(pid);
        std::filesystem::create_directories(folder);
        std::ofstream(folder + "/stat") << stat_line("p", parent, start);
        std::ofstream(folder + "/environ") << environment;
    }
    void remove(pid_t pid) { std::filesystem::remove_all(root_ + "/" + std::to_string(pid)); }

    std::string root_;
};

TEST_F(MadeUpSystem, DescendantsAndMarkedOrphansBelong) {
    using namespace std::literals;
    add(1, 0, 1), add(100, 1, 900);
    add(200, 100), add(190, 210), add(210, 200);   // a child may have a lower id than its parent
    add(300, 1, 1001, "A=1\0MARK=/x\0"sv);         // lost its parent
    add(301, 1, 1001, "A=MARK=/x\0MARK=/xy\0"sv);  // another recording's
    add(302, 1, 100, "MARK=/x\0"sv);               // older than the command
    add(303, 100, 1001);                           // a sibling
    ProcFiles files(root_);
    ProcessTree tree(files, 200, "MARK=/x");
    EXPECT_EQ(tree.scan(), (std::vector<pid_t>{190, 200, 210, 300}));
    remove(210);  // its child stays known
    add(400, 190);
    EXPECT_EQ(tree.scan(), (std::vector<pid_t>{190, 200, 300, 400}));
    remove(200);
    EXPECT_EQ(tree.scan(), (std::vector<pid_t>{190, 300, 400}));
}

}  // namespace
}  // namespace gpuprof
