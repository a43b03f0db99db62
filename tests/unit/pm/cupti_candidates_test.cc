#include "collect/pm/cupti_candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

namespace gpuprof::pm {
namespace {

namespace fs = std::filesystem;

// A machine with a Python and a virtual environment made from it, each with a wheel of CUPTI.
class Pythons : public testing::Test {
protected:
    void SetUp() override {
        root_ = fs::canonical(fs::temp_directory_path()) /
                fs::path(testing::UnitTest::GetInstance()->current_test_info()->name());
        fs::remove_all(root_);
        touch("usr/bin/python3");
        fs::permissions(root_ / "usr/bin/python3", fs::perms::owner_all);
        fs::create_directories(root_ / "venv/bin");
        fs::create_symlink(root_ / "usr/bin/python3", root_ / "venv/bin/python3");
        base_ = touch("usr/lib/python3.11/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12");
        venv_ = touch("venv/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13");
    }
    void TearDown() override { fs::remove_all(root_); }
    std::string touch(const std::string& name) {
        fs::path path = root_ / name;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << "x";
        return path;
    }
    std::string in(const std::string& name) { return root_ / name; }

    fs::path root_;
    std::string base_, venv_;
};

std::vector<std::string> places_of(const std::string& program, std::map<std::string, std::string> environment) {
    return cupti_candidates(program, [&](const char* name) { return environment[name]; });
}

std::ptrdiff_t place_of(const std::vector<std::string>& places, const std::string& place) {
    auto found = std::find(places.begin(), places.end(), place);
    return found == places.end() ? -1 : found - places.begin();
}

TEST_F(Pythons, are_looked_into_after_the_system) {
    std::vector<std::string> places = places_of("sleep", {{"PATH", in("nothing") + ":" + in("usr/bin")}});
    EXPECT_EQ(places.front(), "libcupti.so.13");
    EXPECT_GT(place_of(places, base_), place_of(places, "libcupti.so"));
    EXPECT_EQ(place_of(places, venv_), -1);
}

TEST_F(Pythons, of_the_recorded_program_come_first_and_the_one_behind_it_next) {
    std::vector<std::string> places = places_of(in("venv/bin/python3"), {{"PATH", in("usr/bin")}});
    EXPECT_EQ(place_of(places, venv_), 0);
    EXPECT_EQ(place_of(places, base_), 1);
    EXPECT_EQ(std::count(places.begin(), places.end(), base_), 1);
}

TEST_F(Pythons, are_found_by_name_in_path) {
    EXPECT_EQ(place_of(places_of("python3", {{"PATH", in("venv/bin")}}), venv_), 0);
}

TEST_F(Pythons, of_a_script_are_those_of_its_first_line) {
    std::ofstream(in("venv/bin/torchrun")) << "#!" << in("venv/bin/python3") << "\nimport sys\n";
    fs::permissions(root_ / "venv/bin/torchrun", fs::perms::owner_all);
    EXPECT_EQ(place_of(places_of("torchrun", {{"PATH", in("venv/bin")}}), venv_), 0);
    std::ofstream(in("venv/bin/tool")) << "\x7f"
                                          "ELF";
    EXPECT_GT(place_of(places_of(in("venv/bin/tool"), {}), venv_), 0)
        << "a program that is not Python's maps what the system has";
}

TEST_F(Pythons, come_after_a_library_that_is_to_be_tried_first) {
    std::vector<std::string> places = places_of(venv_, {{"PATH", in("usr/bin")}});
    EXPECT_EQ(place_of(places, venv_), 0);
    EXPECT_EQ(places[1], "libcupti.so.13");
}

TEST_F(Pythons, that_are_switched_on_count_too) {
    EXPECT_GT(place_of(places_of("sleep", {{"VIRTUAL_ENV", in("venv")}}), venv_), 0);
}

TEST_F(Pythons, come_after_toolkits_whose_library_counts_once) {
    std::string library = touch("cuda/extras/CUPTI/lib64/libcupti.so.12");
    fs::create_symlink(library, in("cuda/extras/CUPTI/lib64/libcupti.so"));
    std::vector<std::string> places = places_of("sleep", {{"CUDA_HOME", in("cuda")}, {"VIRTUAL_ENV", in("venv")}});
    EXPECT_GT(place_of(places, in("cuda/extras/CUPTI/lib64/libcupti.so")), 0);
    EXPECT_EQ(place_of(places, library), -1);
    EXPECT_LT(place_of(places, in("cuda/extras/CUPTI/lib64/libcupti.so")), place_of(places, venv_));
}

TEST_F(Pythons, are_looked_into_below_the_root) {
    auto environment = [](std::string_view name) { return std::string(name == "PATH" ? "/venv/bin" : ""); };
    std::vector<std::string> places = cupti_candidates("", environment, root_);
    EXPECT_EQ(place_of(places, base_), static_cast<std::ptrdiff_t>(places.size()) - 1);
    EXPECT_EQ(place_of(places, venv_), place_of(places, base_) - 1);
}

TEST_F(Pythons, do_not_matter_when_a_library_is_named) {
    EXPECT_EQ(places_of("python3", {{"PATH", in("venv/bin")}, {"GPUPROF_CUPTI", "/x/libcupti.so"}}),
              std::vector<std::string>{"/x/libcupti.so"});
}

}  // namespace
}  // namespace gpuprof::pm
