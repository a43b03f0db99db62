// Fuzz target of jobs of many ranks. By the first byte: summaries as files, two bytes of length before each (even), or rows of the
// tables that a summary consists of (odd), so that every column can hold any value. Whatever they say, the job is matched, aligned and
// replayed, every analysis answers or says why not, and the viewer's pages are made.
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>

#include "core/model/build/merge_traces.h"
#include "core/model/build/trace_builder.h"
#include "io/importers/importer.h"
#include "present/answer/analyses.h"
#include "present/view/job_pages.h"
#include "tests/fuzz/choices.h"
#include "tests/fuzz/fuzz_target.h"

namespace gpuprof::fuzz {
namespace {

constexpr std::size_t kMostFiles = 8, kMostRows = 2000;
constexpr std::string_view kTables[] = {"rank",          "rank_group", "rank_step", "rank_kernel", "rank_collective",
                                        "rank_transfer", "rank_call",  "meta"};
constexpr std::string_view kTexts[] = {"whole",      "cut",       "unreadable", "missing",        "host",
                                       "all_reduce", "send_recv", "all_gather", "reduce_scatter", "0-7",
                                       "0,2,4",      "5-1,,",     "0-99999999", "started",        "completed",
                                       "scheduled",  "recorded",  "kineto",     "NVIDIA H200",    ""};

template <class T>
T number(Choices& choices) {
    std::uint8_t first = choices.byte();
    if (first < 224) return static_cast<T>(first % 32);  // ranks, steps and numbers of groups meet each other
    if (first < 240) return static_cast<T>(choices.two_bytes() * 1000u);
    constexpr T kEnds[] = {std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest(), static_cast<T>(-1),
                           std::numeric_limits<T>::max() / 2};
    if (first < 248) return kEnds[first % 4];
    std::uint64_t any = 0;
    for (int i = 0; i < 4; ++i) any = any << 16 | choices.two_bytes();
    return static_cast<T>(static_cast<std::int64_t>(any));
}

std::string_view text(Choices& choices) {
    std::uint8_t first = choices.byte();
    return first < 200 ? kTexts[first % std::size(kTexts)] : choices.take(first - 200);
}

// A row: the table, two bytes that say which of its columns are absent, then a value for each other.
void add_row(Choices& choices, Batch& batch) {
    std::string_view wanted = kTables[choices.byte() % std::size(kTables)];
    std::uint32_t absent = choices.two_bytes();
    batch.tables.each_table([&](const TableSpec& spec, auto& table) {
        if (spec.name != wanted) return;
        Row row = table.add();
        std::uint32_t index = 0;
        table.each_column([&](const ColumnSpec&, auto& column) {
            using Value = typename std::remove_cvref_t<decltype(column)>::value_type;
            if ((absent >> (index++ % 16) & 1) != 0) return;
            if constexpr (std::is_same_v<Value, StringId>)
                column.set(row, batch.intern(text(choices)));
            else
                column.set(row, number<Value>(choices));
        });
    });
}

Trace of_rows(std::string_view bytes) {
    Batch batch;
    std::size_t rows = 0;
    for (Choices choices(bytes); !choices.empty() && rows < kMostRows; ++rows) add_row(choices, batch);
    batch.tables.close();
    TraceBuilder builder(Origin{});
    builder.append(std::move(batch));
    return std::move(builder).finish();
}

Trace of_files(std::string_view bytes) {
    TraceBuilder builder(Origin{});
    std::size_t files = 0;
    for (Choices choices(bytes); !choices.empty() && files < kMostFiles; ++files) {
        Result<std::unique_ptr<Source>> source = memory_source("fuzz", choices.take(choices.two_bytes()));
        if (!source) continue;
        Result<Trace> summary = import_trace(**source);
        if (summary) builder.append(batch_of(std::move(*summary)));
    }
    return std::move(builder).finish();
}

}  // namespace

void run_summary(std::string_view bytes) {
    Choices choices(bytes);
    bool rows = choices.byte() % 2 == 1;
    Trace job = rows ? of_rows(choices.rest()) : of_files(choices.rest());
    Facts facts(job, Options{});
    for (const Analysis* analysis : analyses()) {
        Result<ResultTable> answer = analysis->run(facts);
        if (answer) promise(answer->columns().size() == analysis->columns.size(), "the columns that were declared");
    }
    view::JobPages pages = view::job_pages(facts, view::StepDetail::all);
    for (const view::StepPage& page : pages.steps) promise(!page.bars.empty(), "every step has its page");
}

}  // namespace gpuprof::fuzz
