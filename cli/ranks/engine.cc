#include "cli/ranks/engine.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <numeric>
#include <thread>

#include "cli/program.h"
#include "cli/ranks/child.h"
#include "cli/ranks/reduce_command.h"
#include "cli/ranks/second_try.h"
#include "core/base/files/names_in.h"
#include "core/base/files/path_search.h"
#include "core/base/fnv.h"
#include "core/base/ownership.h"
#include "core/base/parallel.h"
#include "io/importers/importer.h"

namespace gpuprof::inline cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestSummary = std::uint64_t{16} << 20;

unsigned usual_workers() {
    std::uint64_t by_memory = std::max<std::uint64_t>(free_memory() / kReduceMemory, 1);
    return static_cast<unsigned>(std::min<std::uint64_t>(by_memory, std::max(std::thread::hardware_concurrency(), 1U)));
}

// The same for the same bytes to the file system, read in the same way by the same user.
std::string summary_name(const RankFile& file, const EngineOptions& options) {
    struct stat about {};
    if (stat(file.path.c_str(), &about) != 0) return {};
    std::error_code unknown;
    std::string identity =
        fmt::format("{}|{}|{}.{:09}|{}|{}|{}|{}|{}|{}|{}", fs::absolute(file.path, unknown).string(), about.st_size,
                    about.st_mtim.tv_sec, about.st_mtim.tv_nsec, about.st_ino, kReducerVersion, program_version(),
                    options.step_range, file.rank.value_or(-1), file.host, geteuid());
    return fmt::format("{:016x}{:016x}.gpuprof", fnv1a(identity), fnv1a(identity, 0x84222325cbf29ce4));
}

// A small capture that is a summary already. Captures are our own: reading one needs no process of its own.
bool is_summary(const RankFile& file) {
    std::error_code unknown;
    if (file.bytes > kLargestSummary || !file.path.ends_with(".gpuprof")) return false;
    if (!fs::is_regular_file(file.path, unknown)) return false;  // a pipe may never end
    static const ColumnSelection about{{"rank", "*"}};
    Result<OpenedFile> opened = recognise_file(file.path, file.path, {});
    if (!opened.ok() || opened->is_foreign()) return false;
    Result<Trace> trace = import_file(*opened, about);
    return trace.ok() && trace->tables().rank.rows > 0;
}

void reduce_one(ReducedFile& into, const EngineOptions& options, const std::string& program) {
    if (is_summary(into.file)) {
        into.summary = into.file.path;
        return;
    }
    std::string name = summary_name(into.file, options);
    if (name.empty()) {
        into.problem = fmt::format("cannot read {}", into.file.path);
        return;
    }
    std::string summary = (fs::path(options.cache) / name).string();
    struct stat kept {};
    if (lstat(summary.c_str(), &kept) == 0) {
        // In a folder of several users somebody else could tell any story of this file.
        if (!is_ours(kept) || !S_ISREG(kept.st_mode))
            into.problem = fmt::format("{} is {}; delete it, or name another folder with --cache", summary,
                                       S_ISREG(kept.st_mode) ? "another user's" : "not a file");
        else
            into.summary = summary, into.cached = true;
        return;
    }
    std::vector<std::string> arguments{"ranks", "reduce", into.file.path, "--output", summary};
    if (into.file.rank) arguments.insert(arguments.end(), {"--rank", fmt::format("{}", *into.file.rank)});
    if (!into.file.host.empty()) arguments.insert(arguments.end(), {"--host", into.file.host});
    if (!options.step_range.empty()) arguments.insert(arguments.end(), {"--step-range", options.step_range});
    auto run = [&](std::uint64_t memory) {
        std::vector<std::string> words = arguments;
        if (memory > 0) words.insert(words.end(), {"--memory", fmt::format("{}", memory)});
        return run_child(program, words, options.seconds);
    };
    ChildEnd end = run_twice(run, options.memory);
    if (end.ok)
        into.summary = summary;
    else
        into.problem = end.problem, into.foreign = end.status == static_cast<int>(ExitCode::empty);
}

// Removes what killed processes have left. Nothing that is still written: a file may take `seconds`.
void remove_unfinished(const std::string& cache, double seconds) {
    const auto oldest = std::time(nullptr) - static_cast<std::time_t>(seconds) - 60;
    for (const std::string& name : names_in(cache)) {
        const std::string path = (fs::path(cache) / name).string();
        struct stat about {};
        if (name.starts_with('.') && name.find(".gpuprof.part-") != std::string::npos &&
            lstat(path.c_str(), &about) == 0 && is_ours(about) && about.st_mtime < oldest)
            unlink(path.c_str());
    }
}

}  // namespace

std::string usual_cache() {
    if (const char* named = std::getenv("XDG_CACHE_HOME"); named != nullptr && *named == '/')
        return (fs::path(named) / "gpu-profile" / "ranks").string();
    if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
        return (fs::path(home) / ".cache" / "gpu-profile" / "ranks").string();
    return {};
}

Result<std::vector<ReducedFile>> reduce_files(const std::vector<RankFile>& files, const EngineOptions& options,
                                              JobProgress& progress) {
    std::error_code failed;
    fs::create_directories(options.cache, failed);
    if (failed)
        return Error{ExitCode::not_permitted, fmt::format("cannot create {}: {}; name another folder with --cache",
                                                          options.cache, failed.message())};
    remove_unfinished(options.cache, options.seconds);
    std::vector<ReducedFile> reduced;
    for (const RankFile& file : files) reduced.push_back({file, {}, {}, false, false});
    // Largest first, so that the last one to end is a small one.
    std::vector<std::size_t> order(files.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return files[a].bytes > files[b].bytes; });
    std::string program = this_executable();
    unsigned workers = options.workers > 0 ? options.workers : usual_workers();
    for (const RankFile& file : files) progress.bytes += file.bytes;
    progress.files = files.size();
    run_parallel(order.size(), std::min<unsigned>(workers, 256), [&](std::size_t task, unsigned) {
        ReducedFile& file = reduced[order[task]];
        reduce_one(file, options, program);
        progress.count(file.file.bytes, file.cached, file.summary.empty() && !file.foreign);
    });
    return reduced;
}

}  // namespace gpuprof::cli
