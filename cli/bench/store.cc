#include "cli/bench/store.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/program.h"
#include "collect/cpu/proc_files.h"
#include "core/base/host_name.h"
#include "core/base/ownership.h"
#include "core/base/whole_file.h"

namespace gpuprof::inline cli {
namespace {

constexpr const char* kFolder = ".gpu-profile/bench";
constexpr std::uint64_t kMaxBytes = std::uint64_t{256} << 20;  // millions of samples

bool is_file_name(const std::string& name) { return name.find('/') != std::string::npos || name.ends_with(".json"); }

}  // namespace

std::string bench_file_of(const std::string& name) {
    if (is_file_name(name)) return name;
    const char* named = std::getenv("GPUPROF_BENCH_DIR");
    return fmt::format("{}/{}.json", named != nullptr && *named != '\0' ? named : kFolder, name);
}

Result<measure::BenchDocument> read_bench_result(const std::string& name) {
    std::string file = bench_file_of(name);
    Result<std::string> text = read_whole_file(file, kMaxBytes);
    if (!text.ok())
        return Error{text.error().code,
                     fmt::format("{}{}", text.error().message,
                                 is_file_name(name) || access(file.c_str(), F_OK) == 0
                                     ? ""
                                     : fmt::format("; create it with gpu-profile bench --save {}", name))};
    return measure::read_bench_document(*text, file);
}

Result<BenchSaving> BenchSaving::open(const std::string& name, bool force) {
    std::string file = bench_file_of(name);
    if (file.starts_with(kFolder))
        if (Status usual = check_usual_place(file, "GPUPROF_BENCH_DIR"); !usual) return usual.error();
    std::error_code problem;
    if (std::filesystem::path folder = std::filesystem::path(file).parent_path(); !folder.empty()) {
        std::filesystem::create_directories(folder, problem);
        if (problem)
            return Error{ExitCode::not_permitted,
                         fmt::format("cannot create folder {}: {}", folder.string(), problem.message())};
    }
    if (!force && std::filesystem::exists(file, problem))
        return Error{ExitCode::usage,
                     fmt::format("{} already exists; choose another name, or overwrite it with --force", file)};
    Result<Output> output = Output::open(file);
    if (!output.ok()) return output.error();
    return BenchSaving(std::move(file), std::move(*output));
}

Status BenchSaving::commit(const measure::BenchDocument& document) {
    measure::write_json(document, output_);
    return output_.close();
}

namespace {

measure::Machine this_machine() {
    measure::Machine machine{.host = host_name(), .cpu = {}, .cpus = 0, .load = {}};
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable) == 0) machine.cpus = CPU_COUNT(&usable);
    if (double load = 0; getloadavg(&load, 1) == 1) machine.load = load;
    std::ifstream cpu_info("/proc/cpuinfo");
    for (std::string line; std::getline(cpu_info, line);)
        if (std::size_t colon = line.find(": "); line.starts_with("model name") && colon != std::string::npos) {
            machine.cpu = line.substr(colon + 2);
            break;
        }
    return machine;
}

std::string now_text() {
    std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text;
}

}  // namespace

void describe_run(measure::BenchDocument& document, bool with_command_line) {
    document.version = program_version();
    document.created = now_text();
    if (with_command_line) document.command_line = ProcFiles().command(getpid());
    document.machine = this_machine();
}

}  // namespace gpuprof::cli
