#include "cli/record/output_name.h"

namespace gpuprof::test {
namespace {

const NameVariables kVariables{{"rank", "7"}, {"host", "n17"}, {"job", ""}, {"restart", "a/b"}};

std::string expanded(const std::string& name) {
    Result<std::string> result = expand_name(name, kVariables);
    return result.ok() ? *result : "error: " + result.error().message;
}

TEST(OutputName, Variables) {
    EXPECT_EQ(expanded("run/{host}-r{rank:05}.gpuprof"), "run/n17-r00007.gpuprof");
    EXPECT_EQ(expanded("{rank}{rank:01}{rank:02}"), "7707");
    EXPECT_EQ(expanded("a{{b}}"), "a{b}");
    EXPECT_EQ(expanded("{{rank}}"), "{rank}");
    EXPECT_EQ(expanded("plain"), "plain");
    EXPECT_FALSE(has_variables("plain"));
    EXPECT_TRUE(has_variables("a}"));
}

TEST(OutputName, ErrorsSayWhatIsKnown) {
    EXPECT_EQ(expanded("{node}"),
              "error: unknown variable '{node}' in output name '{node}'; known here: {host}, {rank}, {restart}");
    EXPECT_EQ(expanded("{job}.gpuprof")
                  .find("error: output name '{job}.gpuprof' needs {job}, which no launcher set: "
                        "none of TORCHELASTIC_RUN_ID, SLURM_JOB_ID is usable"),
              0u);
    for (const char* name : {"{rank", "rank}", "{", "}", "{{{", "a{rank}}"})
        EXPECT_EQ(expanded(name).find("error: unmatched"), 0u) << name;
    for (const char* name :
         {"{rank:}", "{rank:5}", "{rank:0}", "{rank:00}", "{rank:011}", "{rank:0x}", "{rank:05:}", "{rank:0-1}"})
        EXPECT_EQ(expanded(name).find("error: invalid width"), 0u) << name << " " << expanded(name);
    EXPECT_EQ(expanded("{host:03}"), "error: {host} is 'n17' here, which is not a number; remove the width");
    EXPECT_EQ(expanded("{restart}"), "error: {restart} is 'a/b' here; file names cannot contain it");
    EXPECT_EQ(expanded("{}").find("error: unknown variable '{}'"), 0u);
}

TEST(OutputName, VariablesOfAPlace) {
    JobPlace place;
    place.rank = 0;
    place.job = "4711";
    NameVariables variables = name_variables(place, "n1");
    EXPECT_EQ(variables["rank"], "0");
    EXPECT_EQ(variables["job"], "4711");
    EXPECT_EQ(variables["world_size"], "");
}

}  // namespace
}  // namespace gpuprof::test
