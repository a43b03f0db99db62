// Fuzz target of SQL: any text, as statements over a small trace. Each ends within its time, answers rows or an error, reads nothing but
// the catalogue, and leaves the trace as it was.
#include <unistd.h>

#include <chrono>

#include "present/query/sql.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/unit/processor_time.h"
#include "tests/unit/query/small_trace.h"

namespace gpuprof::fuzz {
namespace {

constexpr std::chrono::milliseconds kAllowed{100};
constexpr double kMostSeconds = 1;  // of CPU: also what runs between two looks at the clock, even under sanitizers
constexpr int kMaxStatements = 20, kMaxRows = 500, kKernels = 24;

// Everything of the rows that a reader would look at.
void read_rows(SqlRows& rows) {
    for (std::size_t i = 0; i < rows.columns(); ++i) rows.column(i);
    for (int row = 0; row < kMaxRows; ++row) {
        Result<bool> there = rows.next();
        if (!there || !*there) return;
        for (std::size_t i = 0; i < rows.columns(); ++i) rows.cell(i);
    }
}

}  // namespace

void run_sql(std::string_view bytes) {
    static const Trace trace = small_trace(kKernels);
    Catalogue catalogue(trace, Options{});
    Result<std::unique_ptr<Sql>> sql = Sql::open(catalogue);
    promise(sql.ok(), "SQL opens");
    is_complete_sql(std::string(bytes));
    for (int i = 0; i < kMaxStatements; ++i) {
        (*sql)->limit_time(kAllowed);
        double begun = processor_seconds();
        Result<std::optional<SqlRows>> rows = (*sql)->prepare(bytes);
        bool prepared = rows.ok() && rows->has_value();
        if (prepared) read_rows(**rows);
        promise(processor_seconds() - begun < kMostSeconds, "a statement ends within its time");
        if (!prepared) break;
    }
    promise(trace.kernel().rows == kKernels && trace.text(trace.kernel().name[0]) == "gemm", "the trace is as it was");
    for (const char* file : {"gpuprof-fuzz-sql.db", "gpuprof-fuzz-sql.txt"})
        promise(access(file, F_OK) != 0, "no statement makes a file");
}

}  // namespace gpuprof::fuzz
