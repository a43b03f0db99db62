// The output of `bench`: its tables as text and CSV, the whole result as JSON, and nvbench's JSON.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/model/result_table.h"
#include "measure/bench_document.h"

namespace gpuprof::inline cli {

inline constexpr std::string_view kBenchFormats[] = {"text", "csv", "json", "nvbench"};

// Writes to the file `output` ("-" is standard output) in one of kBenchFormats.
Status write_bench(const measure::BenchDocument& document, std::string_view format, const std::string& output);

// Writes tables without a document, in a report format.
Status write_tables(std::string_view head, std::span<const ResultTable> tables, std::string_view format,
                    const std::string& output);

}  // namespace gpuprof::cli
