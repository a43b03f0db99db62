// Named results of `bench`: .gpu-profile/bench/NAME.json in the current folder; GPUPROF_BENCH_DIR names another folder.
// A name that contains a slash or ends with .json is a path.
#pragma once

#include <optional>
#include <string>

#include "cli/output.h"
#include "core/base/result.h"
#include "measure/bench_document.h"

namespace gpuprof::inline cli {

std::string bench_file_of(const std::string& name);

Result<measure::BenchDocument> read_bench_result(const std::string& name);

// A result to be saved. It is opened before anything is measured, so that an unwritable path fails at once. The file
// appears, complete, when commit() succeeds.
class BenchSaving {
public:
    // Refuses to overwrite a result unless `force`.
    static Result<BenchSaving> open(const std::string& name, bool force);
    const std::string& file() const { return file_; }
    Status commit(const measure::BenchDocument& document);

private:
    BenchSaving(std::string file, Output output) : file_(std::move(file)), output_(std::move(output)) {}
    std::string file_;
    Output output_;
};

// Where a result of `bench` comes from: program, time, command line, machine.
// Fills everything but the benchmarks. The command line is that of this process, without secrets, or is omitted.
void describe_run(measure::BenchDocument& document, bool with_command_line);

}  // namespace gpuprof::cli
