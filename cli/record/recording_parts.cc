#include "cli/record/recording_parts.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/output.h"
#include "core/base/ownership.h"
#include "core/base/text/shell_words.h"
#include "core/schema/meta_keys.h"
#include "io/exporters/exporter.h"
#include "io/importers/formats.h"
#include "io/importers/importer.h"

namespace gpuprof::inline cli {
namespace {

std::string folder_of(const std::string& file) {
    std::size_t slash = file.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : file.substr(0, slash);
}

}  // namespace

std::string parts_folder(const std::string& output, const std::string& chosen, std::span<const std::string> candidates,
                         const std::function<StorageKind(const std::string&)>& storage) {
    if (!chosen.empty()) return chosen;
    std::string own = folder_of(output);
    if (storage(own) != StorageKind::network) return own;
    auto local = std::find_if(candidates.begin(), candidates.end(),
                              [&](const std::string& each) { return storage(each) == StorageKind::local; });
    return local == candidates.end() ? own : *local;
}

std::string parts_folder(const std::string& output, const std::string& chosen) {
    return parts_folder(output, chosen, temporary_folders(), storage_of);
}

namespace {

constexpr const char* kPrefix = "beside-";
constexpr const char* kLauncher = "launcher";

Origin origin_of(const std::string& name) {
    return {.file = shell_quoted_file(name), .importer = "capture", .tool = meta_key::kRecorderTool};
}

// The launcher counts samplers that were killed at once.
bool is_empty_companion(const std::string& file) {
    std::error_code failed;
    return is_companion_part(file) && std::filesystem::file_size(file, failed) == 0 && !failed;
}

bool is_launcher_part(const std::string& file) {
    return file.ends_with(fmt::format("/{}{}.gpuprof", kPrefix, kLauncher));
}

}  // namespace

std::string companion_part(const std::string& folder, const std::string& name) {
    return fmt::format("{}/{}{}.gpuprof", folder, kPrefix, name);
}

bool is_companion_part(const std::string& file) { return file.find(std::string("/") + kPrefix) != std::string::npos; }

namespace {

// FOLDER/PID of a process's part.
std::string process_of(const std::string& file) { return file.substr(0, file.rfind('-')); }

// Whether it is one of several that the process wrote (core/format/spool.h).
bool is_one_of_several(const std::string& file) {
    if (is_companion_part(file)) return false;
    Result<std::unique_ptr<Source>> source = open_source(file);
    return source.ok() && (*source)->head().find("first_part") != std::string_view::npos;
}

// The parts that one decoder reads: those of a process continue each other if it wrote several.
std::vector<std::vector<std::string>> joined_parts(const std::vector<std::string>& files) {
    std::vector<std::vector<std::string>> groups;
    bool open = false;  // the last group may go on
    for (const std::string& file : files) {
        bool several = is_one_of_several(file);
        if (!several || !open || process_of(groups.back().front()) != process_of(file)) groups.emplace_back();
        groups.back().push_back(file);
        open = several;
    }
    return groups;
}

}  // namespace

std::size_t processes_of(const std::vector<std::string>& files) {
    std::set<std::string> processes;
    for (const std::string& file : files)
        if (!is_companion_part(file)) processes.insert(process_of(file));
    return processes.size();
}

Result<Trace> merge_parts(Batch own, std::vector<std::string> files, const std::string& name, CodeFiles code) {
    auto others = std::stable_partition(files.begin(), files.end(), is_companion_part);
    std::stable_partition(files.begin(), others, is_launcher_part);
    TraceBuilder builder(origin_of(name));
    builder.append(std::move(own));
    for (std::vector<std::string>& group : joined_parts(files)) {
        if (is_empty_companion(group.front())) continue;
        Result<std::unique_ptr<Source>> source =
            group.size() == 1 ? open_source(group.front()) : join_files(std::move(group));
        if (!source.ok()) return source.error();
        Status status =
            code == CodeFiles::open ? import_own_capture(**source, builder) : import_capture(**source, builder);
        if (!status) return status.error();
    }
    return std::move(builder).finish();
}

bool is_private(const std::string& folder) {
    struct stat about {};
    return ::lstat(folder.c_str(), &about) == 0 && S_ISDIR(about.st_mode) && is_ours(about) &&
           (about.st_mode & 077) == 0;
}

Status check_parts(const std::string& folder) {
    std::error_code failed;
    for (std::filesystem::recursive_directory_iterator entry(folder, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        auto kind = entry->symlink_status(failed).type();
        if (!failed && kind != std::filesystem::file_type::regular && kind != std::filesystem::file_type::directory)
            return Error{ExitCode::unreadable,
                         fmt::format("cannot merge {}: {} is neither a file nor a folder, and record makes no others",
                                     shell_quoted_file(folder), shell_quoted_file(entry->path().string()))};
    }
    return {};
}

Status write_recording(const Trace& trace, const std::string& file) {
    const Exporter* capture = find_exporter("capture");
    return write_output(
        file, [&](Sink& sink) { return capture->run(trace, sink); }, FileAccess::owner);
}

std::string keep_for_merging(Batch own, const std::string& folder, const std::string& output) {
    TraceBuilder builder(origin_of(output));
    builder.append(std::move(own));
    Trace trace = std::move(builder).finish();
    (void)write_recording(trace, companion_part(folder, kLauncher));  // if there is no room, the exit status is missing
    return fmt::format("gpu-profile record --merge {} -o {}", shell_quoted_file(folder), shell_quoted_file(output));
}

}  // namespace gpuprof::cli
