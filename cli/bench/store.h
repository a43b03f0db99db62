// Results of `bench` that are kept by name: .gpu-profile/bench/NAME.json in the current folder (GPUPROF_BENCH_DIR names another one).
// A name with a slash, or one that ends with .json, is a file.
#pragma once

#include <optional>
#include <string>

#include "cli/output.h"
#include "core/base/result.h"
#include "measure/bench_document.h"

namespace gpuprof {

std::string bench_file_of(const std::string& name);

Result<measure::BenchDocument> read_bench_result(const std::string& name);

// A result that is to be kept. It is opened before anything is measured, so that what cannot be written is known at once; the
// file is there when commit() has succeeded, whole.
class BenchSaving {
public:
    // Refuses to write over a result unless `force`.
    static Result<BenchSaving> open(const std::string& name, bool force);
    const std::string& file() const { return file_; }
    Status commit(const measure::BenchDocument& document);

private:
    BenchSaving(std::string file, Output output) : file_(std::move(file)), output_(std::move(output)) {}
    std::string file_;
    Output output_;
};

// Where a result of `bench` comes from: program, time, command line, machine.
// Fills everything but the benchmarks. The command line is this process's, without secrets, or left out.
void describe_run(measure::BenchDocument& document, bool with_command_line);

}  // namespace gpuprof
