// Recorded series: what is read, what is omitted, and that writing and reading agree.
#include "core/format/series_csv.h"

#include <gtest/gtest.h>

namespace gpuprof {
namespace {

TEST(SeriesCsv, NamesOfBothKindsAndUnits) {
    Result<RecordedSeries> series = parse_series(
        "t_s,util_gpu,mem_used,power_mw,energy_mj,other\n"
        "1795213262.948971,100,1570635776,187424,4858654,9\n"
        "1795213262.5,,nan,x,,\n",
        "f.csv");
    ASSERT_TRUE(series.ok());
    ASSERT_EQ(series->readings.size(), 2u);
    EXPECT_EQ(series->readings[0].time, 1'795'213'262'500'000'000);  // sorted
    EXPECT_TRUE(series->readings[0].present.empty());
    const Reading& full = series->readings[1];
    EXPECT_EQ(full.time, 1'795'213'262'948'971'000);
    EXPECT_DOUBLE_EQ(*full.get(Metric::mem_used), 1497.875);
    EXPECT_DOUBLE_EQ(*full.get(Metric::power), 187.424);
    EXPECT_DOUBLE_EQ(*full.get(Metric::energy), 4858.654);
}

TEST(SeriesCsv, WhatIsWrittenReadsBack) {
    Reading reading;
    reading.time = 5'000'000'123;
    reading.device = 2;
    reading.set(Metric::util_gpu, 33.25);
    reading.set(Metric::throttle, 4);
    Result<RecordedSeries> series = parse_series(series_heading() + series_line(reading, 1'000'000'000), "f.csv");
    ASSERT_TRUE(series.ok());
    ASSERT_EQ(series->readings.size(), 1u);
    EXPECT_EQ(series->readings[0].time, 4'000'000'123);
    EXPECT_EQ(series->readings[0].device, 2);
    EXPECT_EQ(series->readings[0].present, reading.present);
    EXPECT_EQ(series->readings[0].values, reading.values);
}

TEST(SeriesCsv, BrokenLinesAreCountedAndBrokenFilesRefused) {
    Result<RecordedSeries> series =
        parse_series("time_s,util_gpu\n1,50\n\nyesterday,50\n2,60,extra\n1e300,5\n3,70", "f.csv");
    ASSERT_TRUE(series.ok());
    EXPECT_EQ(series->readings.size(), 2u);
    EXPECT_EQ(series->bad_lines, 3u);
    for (std::string_view bad : {"", "\n\n", "a,b\n1,2\n", "time_s\n1\n", "time_s,util_gpu\n",
                                 "\x7f"
                                 "ELF\x01"})
        EXPECT_FALSE(parse_series(bad, "f.csv").ok()) << bad;
}

}  // namespace
}  // namespace gpuprof
