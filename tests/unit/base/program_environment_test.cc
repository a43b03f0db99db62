#include "core/base/program_environment.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

namespace gpuprof::inline base {
namespace {

TEST(ProgramEnvironment, IsACopy) {
    ProgramEnvironment environment;
    EXPECT_EQ(environment.get("PATH").value_or(""), std::getenv("PATH"));
    environment.set("PATH", "/elsewhere");
    environment.set("PATH", "/here");
    environment.set_if_absent("PATH", "/never");
    environment.set("LC_ALL", "C");
    environment.set("LC_CTYPE", "C");
    environment.set("LANG", "C");
    environment.set("LANGUAGE", "de");
    environment.remove_beginning("LC_");
    environment.remove("LANG");
    EXPECT_NE(std::string_view(std::getenv("PATH")), "/here");
    EXPECT_FALSE(environment.get("LC_ALL") || environment.get("LC_CTYPE") || environment.get("LANG"));
    EXPECT_EQ(environment.get("LANGUAGE"), "de");
    int paths = 0;
    std::vector<char*> entries = environment.pointers();
    ASSERT_EQ(entries.back(), nullptr);
    for (std::size_t i = 0; i + 1 < entries.size(); ++i) paths += std::string_view(entries[i]) == "PATH=/here";
    EXPECT_EQ(paths, 1);
}

}  // namespace
}  // namespace gpuprof::base
