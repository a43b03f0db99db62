#include "cli/record/sample_option.h"

#include <gtest/gtest.h>

#include <vector>

namespace gpuprof {
namespace {

Result<SampleOption> parse(const std::vector<std::string>& words) { return parse_sample_option(words); }

TEST(SampleOption, is_a_tenth_of_a_second_without_words) {
    SampleOption option = *parse({});
    EXPECT_EQ(option.device_interval, 0.1);
    EXPECT_FALSE(option.counters);
}

TEST(SampleOption, reads_seconds) {
    EXPECT_EQ(parse({"0.5"})->device_interval, 0.5);
    EXPECT_EQ(parse({"0"})->device_interval, 0);
    EXPECT_EQ(parse({"3600"})->device_interval, 3600);
}

TEST(SampleOption, reads_counters_with_set_and_rate) {
    SampleOption option = *parse({"pm"});
    EXPECT_TRUE(option.counters);
    EXPECT_EQ(option.counter_set, "default");
    EXPECT_EQ(option.counter_interval(), 1'000'000);
    EXPECT_EQ(option.device_interval, 0.1);
    EXPECT_EQ(parse({"pm:sm"})->counter_set, "sm");
    EXPECT_EQ(parse({"pm@20"})->counter_interval(), 50'000'000);
    option = *parse({"pm:memory@50000"});
    EXPECT_EQ(option.counter_set, "memory");
    EXPECT_EQ(option.counter_interval(), 20'000);
}

TEST(SampleOption, takes_both_in_one_list_or_two) {
    for (const auto& words :
         std::vector<std::vector<std::string>>{{"0,pm:sm@200"}, {"0", "pm:sm@200"}, {"pm:sm@200", "0"}}) {
        SampleOption option = *parse(words);
        EXPECT_EQ(option.device_interval, 0);
        EXPECT_TRUE(option.counters);
        EXPECT_EQ(option.counter_hz, 200);
    }
}

TEST(SampleOption, takes_times_with_units) {
    EXPECT_EQ(parse({"50ms"}).value().device_interval, 0.05);
    EXPECT_EQ(parse({"2s,pm"}).value().device_interval, 2);
}

TEST(SampleOption, refuses_what_it_does_not_know) {
    for (const char* word : {"",         "x",    "-1",       "3601",    "nan",     "inf", "1x",        "pmx",
                             "pm@",      "pm@0", "pm@50001", "pm@1.5",  "pm@-1",   "pm:", "pm:nosuch", "pm:sm:memory",
                             "pm@20@30", "0.1,", ",0.1",     "0.1,0.2", "pm,pm:sm"}) {
        Result<SampleOption> parsed = parse({word});
        ASSERT_FALSE(parsed.ok()) << word;
        EXPECT_EQ(parsed.error().code, ExitCode::usage) << word;
        EXPECT_EQ(parsed.error().message.find('\n'), std::string::npos);
    }
    EXPECT_NE(parse({"pm:nosuch"}).error().message.find("memory"), std::string::npos);
    EXPECT_NE(parse({"pm@0"}).error().message.find("50000"), std::string::npos);
}

}  // namespace
}  // namespace gpuprof
