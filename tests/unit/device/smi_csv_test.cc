// The parser of nvidia-smi's CSV: a recording, and every oddity that people reported.
#include "collect/device/smi/smi_csv.h"

#include <gtest/gtest.h>

#include <fstream>
#include <utility>

#include "tests/unit/source_folder.h"

namespace gpuprof::nvidia_smi {
namespace {

constexpr const char* kHeader = "index, uuid, utilization.gpu [%], memory.used [MiB], power.draw [W], temperature.gpu";

Row row_of(std::string_view line, std::string_view header = kHeader) {
    Table table;
    EXPECT_FALSE(table.take(header));
    std::optional<Row> row = table.take(line);
    EXPECT_TRUE(row) << line;
    return row.value_or(Row{});
}

TEST(SmiCsv, ARecordingOfAnH200) {
    std::ifstream file(source_folder() + "/tests/fixtures/nvidia-smi/h200-580.csv");
    ASSERT_TRUE(file);
    Table table;
    std::vector<Row> rows;
    for (std::string line; std::getline(file, line);)
        if (auto row = table.take(line)) rows.push_back(*row);
    ASSERT_EQ(rows.size(), 1u);
    const Row& row = rows[0];
    EXPECT_EQ(row.index, 0);
    EXPECT_EQ(row.name, "NVIDIA H200");
    EXPECT_EQ(row.uuid, "GPU-00000000-0000-0000-0000-000000000000");
    const std::pair<Metric, double> expected[] = {
        {Metric::util_gpu, 0},       {Metric::util_mem, 0},     {Metric::mem_used, 0},
        {Metric::mem_total, 143771}, {Metric::power, 134.05},   {Metric::temp, 40},
        {Metric::sm_clock, 1980},    {Metric::mem_clock, 3201}, {Metric::throttle, 0}};
    for (const auto& [metric, value] : expected) EXPECT_EQ(row.reading.get(metric), value) << spec_of(metric).name;
    EXPECT_TRUE(row.errors.empty());
}

TEST(SmiCsv, Numbers) {
    const std::pair<const char*, std::optional<double>> cases[] = {{"134.05", 134.05},
                                                                   {"134,05", 134.05},
                                                                   {"134.05 W", 134.05},
                                                                   {"134050 mW", 134.05},
                                                                   {"0", 0},
                                                                   {"1,234.5", 1234.5},
                                                                   {"1.234,5", 1234.5},
                                                                   {"1,234", {}},
                                                                   {"1,2345", 1.2345},
                                                                   {"12,34,5", {}},
                                                                   {"1.234.5", {}},
                                                                   {"1.234.567,8", 1234567.8},
                                                                   {"12.34,5", {}},
                                                                   {"0x20", 32},
                                                                   {"0x0000000000000004", 4},
                                                                   {"0x", {}},
                                                                   {"", {}},
                                                                   {"W", {}},
                                                                   {"nan", {}},
                                                                   {"inf", {}},
                                                                   {"1e5", {}},
                                                                   {"2 GiB", 2048},
                                                                   {"--1", {}},
                                                                   {"-5", -5},
                                                                   {"12 kW", {}},
                                                                   {"1,,5", {}},
                                                                   {",5", {}},
                                                                   {"0x1FFFFFFFFFFFFFFFF", {}}};
    for (const auto& [text, value] : cases) {
        auto got = number_of(text);
        EXPECT_EQ(got.has_value(), value.has_value()) << text;
        EXPECT_DOUBLE_EQ(got.value_or(0), value.value_or(0)) << text;
    }
}

TEST(SmiCsv, UnitsQuotesAndDecimalCommas) {
    for (const char* line :
         {"0, GPU-1, 37, 1024, 134.05, 61", "0, GPU-1, 37 %, 1024 MiB, 134.05 W, 61", "0,GPU-1,37,1024,134.05,61",
          "0, GPU-1, 37, 1024, \"134,05\", 61", "0, GPU-1, 37 %, 1024 MiB, 134,05 W, 61\r",
          " 0 ,  GPU-1 , 37 , 1 GiB , 134050 mW , 61 C "}) {
        Row row = row_of(line);
        EXPECT_EQ(row.index, 0);
        EXPECT_EQ(row.uuid, "GPU-1") << line;
        EXPECT_EQ(row.reading.get(Metric::util_gpu), 37) << line;
        EXPECT_EQ(row.reading.get(Metric::mem_used), 1024) << line;
        EXPECT_DOUBLE_EQ(row.reading.get(Metric::power).value_or(-1), 134.05) << line;
        EXPECT_EQ(row.reading.get(Metric::temp), 61) << line;
    }
}

TEST(SmiCsv, WhatIsNotANumberIsAbsentAndSaid) {
    const std::pair<const char*, Problem> cases[] = {{"[N/A]", Problem::unsupported},
                                                     {"N/A", Problem::unsupported},
                                                     {"[Not Supported]", Problem::unsupported},
                                                     {"[Unknown Error]", Problem::unknown_error},
                                                     {"ERR!", Problem::unknown_error},
                                                     {"[GPU requires reset]", Problem::reset_required},
                                                     {"[GPU is lost]", Problem::lost},
                                                     {"[Insufficient Permissions]", Problem::no_permission},
                                                     {"", Problem::unreadable},
                                                     {"many", Problem::unreadable},
                                                     {"101", Problem::implausible},
                                                     {"-1", Problem::implausible}};
    for (const auto& [text, problem] : cases) {
        Row row = row_of("0, GPU-1, " + std::string(text) + ", 0, 1, 2");
        EXPECT_FALSE(row.reading.get(Metric::util_gpu)) << text;
        ASSERT_EQ(row.errors.size(), 1u) << text;
        EXPECT_EQ(row.errors[0].metric, Metric::util_gpu);
        EXPECT_EQ(row.errors[0].problem, problem) << text;
    }
}

TEST(SmiCsv, FieldsByNameInAnyOrder) {
    Table table;
    table.take(
        "index, new.field, pstate, clocks_throttle_reasons.active, clocks.sm [MHz], clocks.max.sm [MHz], "
        "mig.mode.current");
    std::optional<Row> other = table.take("3, whatever, P2, 0x0000000000000024, 812, 1980, Enabled");
    ASSERT_TRUE(other);
    EXPECT_EQ(other->index, 3);
    EXPECT_EQ(other->reading.get(Metric::pstate), 2);
    EXPECT_EQ(other->reading.get(Metric::throttle), 36);
    EXPECT_EQ(other->reading.get(Metric::sm_clock), 812);
    EXPECT_EQ(other->sm_clock_max_mhz, 1980);
    EXPECT_TRUE(other->mig);
}

TEST(SmiCsv, MoreInUseThanThereIs) {
    Row row = row_of("0, 1001, 1000", "index, memory.used [MiB], memory.total [MiB]");
    EXPECT_FALSE(row.reading.get(Metric::mem_used));
    EXPECT_EQ(row.reading.get(Metric::mem_total), 1000);
    ASSERT_EQ(row.errors.size(), 1u);
}

TEST(SmiCsv, MessagesAreKeptApart) {
    Table table;
    EXPECT_FALSE(table.take("Failed to initialize NVML: Driver/library version mismatch"));
    EXPECT_EQ(table.message(), "Failed to initialize NVML: Driver/library version mismatch");
    table.take(kHeader);
    EXPECT_FALSE(table.take(""));
    EXPECT_FALSE(table.take("0, GPU-1, 37"));           // a row cut short
    EXPECT_FALSE(table.take("0,GPU-1,37,1,134,05,5"));  // seven cells of six
    EXPECT_FALSE(table.take("x, GPU-1, 37, 1, 2, 3"));  // no index
    EXPECT_FALSE(table.take(kHeader));                  // once more
    EXPECT_TRUE(table.take("0, GPU-1, 37, 1, 2, 3"));
}

}  // namespace
}  // namespace gpuprof::nvidia_smi
