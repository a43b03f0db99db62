#include "collect/pm/sets.h"

#include <gtest/gtest.h>

#include <set>

#include "collect/pm/pm_errors.h"

namespace gpuprof::pm {
namespace {

TEST(CounterSets, have_every_counter_once_and_default_has_all) {
    std::set<PmCounter> counters;
    for (const CounterSource& source : counter_sources()) {
        EXPECT_TRUE(counters.insert(source.counter).second);
        EXPECT_NE(source.names[0], nullptr);
        EXPECT_NE(source.sets & find_counter_set("default")->bit, 0U);
    }
    EXPECT_EQ(counters.size(), kPmCounterCount);
    EXPECT_EQ(find_counter_set(""), nullptr);
    EXPECT_EQ(find_counter_set("defaul"), nullptr);
}

TEST(CounterErrors, say_the_function_the_code_and_what_to_do_in_one_line) {
    for (int code = 1; code < 1000; ++code) {
        Error error = explain("cuptiPmSamplingEnable", code);
        EXPECT_NE(error.message.find("cuptiPmSamplingEnable answered " + std::to_string(code)), std::string::npos);
        EXPECT_EQ(error.message.find('\n'), std::string::npos);
    }
    EXPECT_EQ(explain("f", 35).code, ExitCode::not_permitted);
    EXPECT_NE(explain("f", 43).message.find("MIG"), std::string::npos);
    EXPECT_NE(explain("f", 41).message.find("confidential"), std::string::npos);
    EXPECT_NE(explain("f", 45).message.find("WSL"), std::string::npos);
    EXPECT_NE(explain("f", 33).message.find("vGPU"), std::string::npos);
}

}  // namespace
}  // namespace gpuprof::pm
