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
#include "cli/ranks/reduce_command.h"
#include "core/base/files/names_in.h"
#include "core/base/files/path_search.h"
#include "core/base/fnv.h"
#include "core/base/ownership.h"
#include "core/base/parallel.h"
#include "core/model/build/damage.h"
#include "io/importers/importer.h"

namespace gpuprof::inline cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestSummary = std::uint64_t{16} << 20;

unsigned usual_workers() {
    std::uint64_t by_memory = std::max<std::uint64_t>(free_memory() / kReduceMemory, 1);
    return static_cast<unsigned>(std::min<std::uint64_t>(by_memory, std::max(std::thread::hardware_concurrency(), 1U)));
}

// The same for the same bytes to the file system or storage, read in the same way by the same user.
std::string summary_name(const ReducedFile& listed, const EngineOptions& options) {
    const RankFile& file = listed.file;
    std::error_code unknown;
    std::string place = listed.input ? file.path : fs::absolute(file.path, unknown).string();
    std::string identity =
        fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}", place, file.bytes, listed.stamp, kReducerVersion, program_version(),
                    options.step_range, file.rank.value_or(-1), file.host, geteuid());
    return fmt::format("{:016x}{:016x}.gpuprof", fnv1a(identity), fnv1a(identity, 0x84222325cbf29ce4));
}

// Captures are our own: reading one needs no process of its own.
std::optional<Trace> ranks_of(const std::string& path) {
    static const ColumnSelection about{{"rank", "*"}};
    Result<OpenedFile> opened = recognise_file(path, path, {});
    if (!opened.ok() || opened->is_foreign()) return std::nullopt;
    Result<Trace> trace = import_file(*opened, about);
    if (!trace.ok() || trace->tables().rank.rows == 0) return std::nullopt;
    return std::move(trace).value();
}

// A small capture that is a summary already.
bool is_summary(const ReducedFile& listed) {
    const RankFile& file = listed.file;
    std::error_code unknown;
    if (listed.input || file.bytes > kLargestSummary || !file.path.ends_with(".gpuprof")) return false;
    return fs::is_regular_file(file.path, unknown) && ranks_of(file.path);  // a pipe may never end
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

Result<std::vector<ReducedFile>> begin_job(const std::vector<ListedFile>& files, const EngineOptions& options,
                                           JobProgress& progress) {
    std::error_code failed;
    fs::create_directories(options.cache, failed);
    if (failed)
        return Error{ExitCode::not_permitted, fmt::format("cannot create {}: {}; name another folder with --cache",
                                                          options.cache, failed.message())};
    remove_unfinished(options.cache, options.seconds);
    std::vector<ReducedFile> reduced;
    for (const ListedFile& file : files) {
        reduced.push_back({file, {}, {}});
        progress.bytes += file.file.bytes;
    }
    progress.files = files.size();
    return reduced;
}

std::optional<std::string> summary_to_make(ReducedFile& file, const EngineOptions& options) {
    if (is_summary(file)) {
        file.summary = file.file.path;
        return std::nullopt;
    }
    std::string name = summary_name(file, options);
    if (file.stamp.empty() && file.input)
        return (fs::path(options.unkept) / fmt::format("{}-{}", *file.input, name)).string();
    if (file.stamp.empty()) {
        file.problem = fmt::format("cannot read {}", file.file.path);
        return std::nullopt;
    }
    std::string summary = (fs::path(options.cache) / name).string();
    struct stat kept {};
    if (lstat(summary.c_str(), &kept) != 0) return summary;
    // In a folder of several users somebody else could tell any story of this file.
    if (!is_ours(kept) || !S_ISREG(kept.st_mode)) {
        file.problem = fmt::format("{} is {}; delete it, or name another folder with --cache", summary,
                                   S_ISREG(kept.st_mode) ? "another user's" : "not a file");
        return std::nullopt;
    }
    std::optional<Trace> ranks = ranks_of(summary);
    if (!ranks || !damage_of(*ranks).empty()) return summary;
    file.summary = summary;
    file.cached = true;
    return std::nullopt;
}

std::vector<std::string> reduce_words(const ReducedFile& file, const EngineOptions& options, std::uint64_t memory) {
    std::vector<std::string> words;
    if (file.file.rank) words.insert(words.end(), {"--rank", fmt::format("{}", *file.file.rank)});
    if (!file.file.host.empty()) words.insert(words.end(), {"--host", file.file.host});
    if (!options.step_range.empty()) words.insert(words.end(), {"--step-range", options.step_range});
    if (memory > 0) words.insert(words.end(), {"--memory", fmt::format("{}", memory)});
    return words;
}

void end_file(ReducedFile& file, const ChildEnd& end, const std::string& summary) {
    if (end.ok)
        file.summary = summary;
    else
        file.problem = end.problem;
    file.foreign = end.status == static_cast<int>(ExitCode::empty);
}

void count_file(const ReducedFile& file, JobProgress& progress) {
    progress.count(file.file.bytes, file.cached, file.summary.empty() && !file.foreign);
}

Result<std::vector<ReducedFile>> reduce_files(const std::vector<ListedFile>& files, const EngineOptions& options,
                                              JobProgress& progress) {
    Result<std::vector<ReducedFile>> reduced = begin_job(files, options, progress);
    if (!reduced.ok()) return reduced;
    // Largest first, so that the last one to end is a small one.
    std::vector<std::size_t> order(files.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return files[a].file.bytes > files[b].file.bytes; });
    std::string program = this_executable();
    unsigned workers = options.workers > 0 ? options.workers : usual_workers();
    run_parallel(order.size(), std::min<unsigned>(workers, 256), [&](std::size_t task, unsigned) {
        ReducedFile& file = (*reduced)[order[task]];
        if (std::optional<std::string> summary = summary_to_make(file, options)) {
            auto run = [&](std::uint64_t memory) {
                std::vector<std::string> words = reduce_words(file, options, memory);
                words.insert(words.begin(), {"ranks", "reduce", file.file.path, "--output", *summary});
                return run_child(program, words, options.seconds);
            };
            end_file(file, run_twice(run, options.memory), *summary);
        }
        count_file(file, progress);
    });
    return reduced;
}

}  // namespace gpuprof::cli
