// `cpu`: sums, shares and order, counted by hand.
#include <gtest/gtest.h>

#include "present/answer/analyses.h"
#include "tests/unit/analyze/draft.h"
#include "tests/unit/analyze/read_table.h"

namespace gpuprof {
namespace {

void use(Draft& draft, std::string_view process, std::string_view thread, TimeNs time, DurNs dur, DurNs user,
         DurNs system, std::int64_t resident = -1) {
    CpuSampleTable& table = draft.tables().cpu_sample;
    Row row = table.add();
    table.time.set(row, time);
    table.dur.set(row, dur);
    table.process.set(row, draft.intern(process));
    if (!thread.empty()) table.thread.set(row, draft.intern(thread));
    table.user_ns.set(row, user);
    table.system_ns.set(row, system);
    if (resident >= 0) table.resident_bytes.set(row, resident);
}

TEST(Cpu, SumsSharesAndOrder) {
    Draft draft;
    use(draft, "h:1", "", 0, 100 * kMillisecond, 10 * kMillisecond, 0, 5000);
    use(draft, "h:1", "h:1/1", 0, 100 * kMillisecond, 10 * kMillisecond, 0);
    use(draft, "h:2", "", 0, 100 * kMillisecond, 150 * kMillisecond, 30 * kMillisecond, 100);
    use(draft, "h:2", "", 100 * kMillisecond, 100 * kMillisecond, 10 * kMillisecond, 10 * kMillisecond, 700);
    use(draft, "h:2", "", 200 * kMillisecond, 10 * kMillisecond, 10 * kMillisecond, 0, 300);  // too short for max_pct
    use(draft, "h:2", "h:2/2", 0, 210 * kMillisecond, 20 * kMillisecond, 0);
    use(draft, "h:2", "h:2/3", 0, 100 * kMillisecond, 150 * kMillisecond, 40 * kMillisecond);
    Trace trace = draft.finish();
    Facts facts(trace, Options{});
    Result<ResultTable> table = find_analysis("cpu")->run(facts);
    ASSERT_TRUE(table.ok());
    ASSERT_EQ(table->rows(), 5u);
    auto text = [&](std::size_t row, std::string_view column) {
        return std::get<std::string_view>(table->cell(row, table->column(column)));
    };
    auto number = [&](std::size_t row, std::string_view column) {
        return std::get<std::int64_t>(table->cell(row, table->column(column)));
    };
    auto real = [&](std::size_t row, std::string_view column) {
        return std::get<double>(table->cell(row, table->column(column)));
    };
    EXPECT_EQ(text(0, "process"), "h:2");
    EXPECT_EQ(text(1, "thread"), "h:2/3");
    EXPECT_EQ(text(2, "thread"), "h:2/2");
    EXPECT_EQ(text(3, "process"), "h:1");
    EXPECT_EQ(number(0, "cpu_ns"), 210 * kMillisecond);
    EXPECT_EQ(number(0, "user_ns"), 170 * kMillisecond);
    EXPECT_EQ(number(0, "seen_ns"), 210 * kMillisecond);
    EXPECT_DOUBLE_EQ(real(0, "share_pct"), 100);
    EXPECT_DOUBLE_EQ(real(0, "max_pct"), 180);
    EXPECT_EQ(number(0, "resident_max_bytes"), 700);
    EXPECT_DOUBLE_EQ(real(1, "mean_pct"), 190);
    EXPECT_DOUBLE_EQ(real(3, "share_pct"), 100.0 * 10 / 210);
    EXPECT_EQ(trace.window().length(), 210 * kMillisecond);
}

TEST(Cpu, AnswersHostileNumbers) {
    Draft draft;
    for (std::int64_t number : {INT64_MIN, INT64_MIN + 1, std::int64_t{-1}, INT64_MAX, INT64_MAX - 1})
        for (std::string_view thread : {"", "t"}) use(draft, "p", thread, number, number, number, number, number);
    Trace trace = draft.finish();
    Facts facts(trace, Options{});
    EXPECT_TRUE(find_analysis("cpu")->run(facts).ok());
}

}  // namespace
}  // namespace gpuprof
