#include "collect/pm/pm_wire.h"

#include <gtest/gtest.h>

namespace gpuprof::pm {
namespace {

TEST(CounterWire, comes_back_as_it_went) {
    CounterRequest request{
        .part = "/tmp/x.gpuprof", .set = "sm", .program = "python", .interval = 20'000, .written_until = {0, 5}};
    std::optional<CounterRequest> asked = decode_request(encode(request));
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->part, request.part);
    EXPECT_EQ(asked->set, request.set);
    EXPECT_EQ(asked->program, request.program);
    EXPECT_EQ(asked->interval, request.interval);
    EXPECT_EQ(asked->written_until, request.written_until);

    CounterReport report{.phase = CounterReport::Phase::refused,
                         .code = 5,
                         .remarks = {"a", ""},
                         .sample_times = 7,
                         .lost = 8,
                         .written_until = {1'795'242'959'647'734'806, -1}};
    std::optional<CounterReport> said = decode_report(encode(report));
    ASSERT_TRUE(said);
    EXPECT_EQ(said->phase, report.phase);
    EXPECT_EQ(said->code, 5);
    EXPECT_EQ(said->remarks, report.remarks);
    EXPECT_EQ(said->sample_times, 7U);
    EXPECT_EQ(said->lost, 8U);
    EXPECT_EQ(said->written_until, report.written_until);
}

TEST(CounterWire, refuses_what_is_cut_changed_or_longer) {
    std::string report = encode(CounterReport{.phase = CounterReport::Phase::sampling,
                                              .code = 0,
                                              .remarks = {"abc"},
                                              .sample_times = 300,
                                              .lost = 1,
                                              .written_until = {4, 5}});
    for (std::size_t size = 0; size < report.size(); ++size)
        EXPECT_FALSE(decode_report(report.substr(0, size))) << size;
    EXPECT_FALSE(decode_report(report + "x"));
    EXPECT_FALSE(decode_request(report));
    std::string request =
        encode(CounterRequest{.part = "p", .set = "s", .program = "", .interval = 1, .written_until = {}});
    for (std::size_t size = 0; size < request.size(); ++size)
        EXPECT_FALSE(decode_request(request.substr(0, size))) << size;
    EXPECT_FALSE(decode_report(request));
    // A count far beyond the bytes allocates nothing.
    EXPECT_FALSE(decode_report(std::string("\xC2\x00\x00\xFF\xFF\xFF\xFF\x7F", 8)));
}

}  // namespace
}  // namespace gpuprof::pm
