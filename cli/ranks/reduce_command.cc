#include "cli/ranks/reduce_command.h"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "cli/output.h"
#include "cli/ranks/rank_files.h"
#include "core/base/files/spill.h"
#include "core/base/files/temporary_file.h"
#include "core/model/build/damage.h"
#include "io/exporters/capture_export.h"
#include "io/importers/importer.h"

namespace gpuprof::inline cli {
namespace {

// Takes the recording, so that only the summary is in memory when it is written.
Result<Trace> summarise(Trace trace, const RankFile& given, const Options& options) {
    if (trace.tables().rank.rows > 0) return trace;  // a summary already
    RankFile file = given;
    std::optional<std::int32_t> rank = rank_of(trace, file);
    if (!rank)
        return Error{ExitCode::unreadable,
                     fmt::format("{} names no rank, and neither does its name; see --rank-from", file.path)};
    if (std::string damage = damage_of(trace); !damage.empty()) {
        file.cut = true;
        file.reason = damage;
    }
    Facts facts(trace, options);
    Batch rows;
    reduce_rank(facts, file, *rank, rows);
    TraceBuilder builder(trace.origin());
    builder.append(std::move(rows));
    return std::move(builder).finish();
}

// Asks the system to end this process when the one that started it ends. Returns whether that one still runs: engines read
// the standard error of this process through a pipe, and a closed pipe shows that they ended before the request.
bool end_with_starter() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pollfd words{STDERR_FILENO, 0, 0};
    return poll(&words, 1, 0) != 1 || (words.revents & POLLERR) == 0;
}

// The larger part of the memory is room for what is touched before pages are given back: a busy machine lets the thread that
// does it wait.
SpillPlan spill_plan(std::uint64_t memory, const std::string& output) {
    if (memory == 0) memory = kReduceMemory;
    std::string folder = std::filesystem::path(output).parent_path().string();
    return {.folders = spill_folders(folder), .heap_bytes = memory / 4, .resident_bytes = memory / 16 * 7};
}

// Limits the data of this process: pages of files are bounded by `spill_plan`, and addresses cost nothing. The whole stack of a
// thread counts, 8 MB by default: a few threads would take a small limit alone, and the one that gives pages back would be refused.
void limit_data(std::uint64_t bytes) {
    rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_DATA, &limit);
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return;
    if (pthread_attr_setstacksize(&attributes, std::size_t{512} << 10) == 0) pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
}

}  // namespace

Result<ExitCode> reduce_file(RankFile file, std::uint64_t memory, const Options& options, const ReadLimits& limits,
                             const std::string& output) {
    if (!end_with_starter()) return Error{ExitCode::internal, "the process that started this one has ended"};
    if (memory > 0) limit_data(memory);
    Spill spill(spill_plan(memory, output));
    struct stat about {};
    if (stat(file.path.c_str(), &about) != 0 && errno != ENOENT)
        return Error{ExitCode::unreadable, fmt::format("cannot read {}: {}", file.path, std::strerror(errno))};
    file.bytes = S_ISREG(about.st_mode) ? static_cast<std::uint64_t>(about.st_size) : 0;
    if (!file.rank) file.rank = rank_in_name(std::filesystem::path(file.path).filename().string());
    if (!file.host.empty()) file.host_from = "option";
    Result<OpenedFile> opened = recognise_file(file.path, file.path, limits);
    if (!opened.ok()) return opened.error();
    // An empty code tells `ranks` that this is not a recording at all.
    if (opened->is_foreign()) return Error{ExitCode::empty, fmt::format("{} is not a recording", file.path)};
    Result<Trace> trace = import_file(*opened, reduced_columns());
    if (!trace.ok()) return trace.error();
    Result<Trace> summary = summarise(std::move(trace).value(), file, options);
    if (!summary.ok()) return summary.error();
    Status made = write_output(
        output, [&](Sink& sink) { return write_capture(*summary, sink, {}); }, FileAccess::owner);
    if (!made) return made.error();
    return ExitCode::ok;
}

}  // namespace gpuprof::cli
