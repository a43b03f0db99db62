#include "io/importers/open_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>

#include "core/base/files/names_in.h"
#include "core/base/text/shell_words.h"
#include "core/model/build/graph_captures.h"
#include "core/model/build/merge_traces.h"
#include "io/importers/importer.h"

namespace gpuprof::inline importers {
namespace {

namespace fs = std::filesystem;

// Two files in a folder that one tool wrote for one recording; the second adds nothing to the first.
struct DuplicateFormat {
    std::string_view kept, left_out;
};
constexpr DuplicateFormat kDuplicateFormats[] = {
    {".xplane.pb", ".trace.json"},
    {".sqlite", ".nsys-rep"},
    {".sqlite", ".qdrep"},
};

struct File {
    std::string path;
    bool of_folder;
};

void lose(Batch& about, Loss loss, std::string_view place) {
    LossTable& losses = about.tables.loss;
    Row row = losses.add();
    losses.kind.set(row, about.intern(kLosses[static_cast<std::size_t>(loss)].name));
    losses.count.set(row, 1);
    losses.place.set(row, about.intern(place));
}

std::string uncompressed(const std::string& path) {
    for (std::string_view ending : {".gz", ".zst"})
        if (path.ends_with(ending)) return path.substr(0, path.size() - ending.size());
    return path;
}

bool has_preferred_duplicate(const std::string& path, const std::set<std::string>& uncompressed_files) {
    std::string name = uncompressed(path);
    return std::any_of(std::begin(kDuplicateFormats), std::end(kDuplicateFormats), [&](const DuplicateFormat& twins) {
        if (!name.ends_with(twins.left_out)) return false;
        std::string stem = name.substr(0, name.size() - twins.left_out.size());
        return uncompressed_files.contains(stem + std::string(twins.kept));
    });
}

// A folder of one Parquet or Arrow file for each table: what nsys export --type parquetdir or arrowdir writes.
bool is_table_folder(const FolderFiles& found) {
    bool texts = false, activity = false;
    for (const std::string& path : found.files) {
        fs::path file(path);
        std::string stem = file.stem().string(), ending = file.extension().string();
        if (ending != ".parquet" && ending != ".arrow") continue;
        texts = texts || stem == "StringIds";
        activity = activity || stem.starts_with("CUPTI_ACTIVITY_KIND_");
    }
    return texts && activity;
}

Status list_folder(const std::string& folder, std::vector<File>& files, Batch& about) {
    Result<FolderFiles> found = files_of_folder(folder);
    if (!found.ok()) return found.error();
    if (is_table_folder(*found)) {
        fs::path report = fs::path(folder + "/").parent_path();
        report.replace_extension();
        return Error{
            ExitCode::unreadable,
            fmt::format(
                "cannot read {}: a folder of tables that nsys exported; export the report next to it as "
                "SQLite: {}",
                folder,
                fmt::format("nsys export --type sqlite -o {} {}", shell_quoted_file(report.string() + ".sqlite"),
                            shell_quoted_file(report.string() + ".nsys-rep")))};
    }
    for (const std::string& path : found->files) files.push_back({path, true});
    for (const std::string& path : found->duplicates)
        lose(about, Loss::second_copy, fs::path(path).filename().string());
    return {};
}

bool is_folder(const std::string& path) {
    std::error_code unknown;
    return path != "-" && fs::is_directory(path, unknown);
}

Result<std::vector<File>> list_files(std::span<const std::string> paths, Batch& about) {
    std::vector<File> files;
    for (const std::string& path : paths) {
        if (!is_folder(path)) {
            files.push_back({path, false});
        } else if (Status listed = list_folder(path, files, about); !listed) {
            return listed.error();
        }
    }
    std::set<std::string_view> once;
    for (const File& file : files)
        if (!once.insert(file.path).second)
            return Error{ExitCode::usage, fmt::format("duplicate file '{}'; name each file once", file.path)};
    return files;
}

// Distinct names for the files: without folders if base names suffice, and never with the folders that all share.
std::vector<std::string> names_of(const std::vector<File>& files) {
    std::set<std::string> distinct;
    std::vector<std::string> names;
    for (const File& file : files) distinct.insert(names.emplace_back(fs::path(file.path).filename().string()));
    if (distinct.size() == files.size()) return names;
    std::string_view shared = files[0].path;
    for (const File& file : files) {
        auto differ = std::mismatch(shared.begin(), shared.end(), file.path.begin(), file.path.end());
        shared = shared.substr(0, static_cast<std::size_t>(differ.first - shared.begin()));
    }
    std::size_t folders = shared.rfind('/') + 1;  // 0 if there is none
    for (std::size_t i = 0; i < files.size(); ++i) names[i] = files[i].path.substr(folders);
    return names;
}

template <class Includes>
std::string shared(const std::vector<JobPart>& parts, std::string Origin::*field, Includes&& includes) {
    std::string list;
    std::set<std::string_view> seen;
    for (const JobPart& part : parts)
        if (const std::string& each = part.trace.origin().*field;
            !each.empty() && includes(part.trace) && seen.insert(each).second)
            list += (list.empty() ? "" : ", ") + each;
    return list;
}

bool has_work(const Trace& trace) {
    const Tables& tables = trace.tables();
    return tables.kernel.rows + tables.api_call.rows + tables.op.rows + tables.range.rows > 0;
}

Origin origin_of(const std::vector<JobPart>& parts, std::span<const std::string> given) {
    auto any = [](const Trace&) { return true; };
    return {shell_quoted_files(given), shared(parts, &Origin::importer, any), shared(parts, &Origin::tool, any),
            shared(parts, &Origin::tool, has_work)};
}

std::vector<std::string> named(std::span<const std::string> paths, Naming naming) {
    std::vector<std::string> names(paths.begin(), paths.end());
    if (naming == Naming::base_names)
        for (std::string& name : names) name = base_name(name) + (is_folder(name) ? "/" : "");
    return names;
}

}  // namespace

namespace {

// Adds the files of a folder. An unreadable folder has none.
void add_files(const fs::path& folder, const std::vector<std::string>& names, std::set<std::string>& to) {
    for (const std::string& name : names) {
        std::error_code unknown;
        if (!name.starts_with('.') && fs::is_regular_file(folder / name, unknown)) to.insert((folder / name).string());
    }
}

// The last run in a log folder as jax.profiler.start_trace and TensorBoard make them: plugins/profile/TIME; "" in another folder.
fs::path last_profile_of(const std::string& folder) {
    fs::path runs = fs::path(folder) / "plugins" / "profile";
    Result<std::vector<std::string>> names = list_names(runs.string());
    std::string last;
    for (const std::string& name : names.ok() ? *names : std::vector<std::string>{})
        if (std::error_code unknown; !name.starts_with('.') && fs::is_directory(runs / name, unknown))
            last = std::max(last, name);
    return last.empty() ? fs::path() : runs / last;
}

// Recordings of graph captures are no processes of the job: they say what the graphs of the others run.
std::vector<JobPart> take_captures(std::vector<JobPart>& parts) {
    auto programs = std::stable_partition(parts.begin(), parts.end(), [](const JobPart& part) {
        return graph_captures_of(part.trace, part.name).empty();
    });
    std::vector<JobPart> captures(std::make_move_iterator(programs), std::make_move_iterator(parts.end()));
    parts.erase(programs, parts.end());
    return captures;
}

Trace with_origin(Trace trace, Origin origin) {
    TraceBuilder builder(std::move(origin));
    builder.append(batch_of(std::move(trace)));
    return std::move(builder).finish();
}

}  // namespace

Result<FolderFiles> files_of_folder(const std::string& folder) {
    Result<std::vector<std::string>> listed = list_names(folder);
    if (!listed.ok()) return listed.error();
    std::set<std::string> found;
    add_files(folder, *listed, found);
    if (fs::path last = last_profile_of(folder); !last.empty())
        if (Result<std::vector<std::string>> names = list_names(last.string()); names.ok())
            add_files(last, *names, found);
    auto fail = [&](std::string_view why) {
        return Error{ExitCode::unreadable, fmt::format("cannot read {}: {}", folder, why)};
    };
    if (found.empty())
        return fail(
            "the folder has no files; name the files or a folder that contains them (subfolders are not read, except "
            "plugins/profile of JAX)");
    std::set<std::string> names;
    for (const std::string& path : found) names.insert(uncompressed(path));
    FolderFiles files;
    for (const std::string& path : found)
        (has_preferred_duplicate(path, names) ? files.duplicates : files.files).push_back(path);
    return files;
}

Result<Trace> open_trace(const std::string& path, const ReadLimits& limits, Naming naming) {
    return open_trace(std::span(&path, 1), limits, naming);
}

Result<Trace> open_trace(std::span<const std::string> paths, const ReadLimits& limits, Naming naming) {
    std::vector<std::string> given = named(paths, naming);
    if (paths.size() == 1 && !is_folder(paths[0])) {
        Result<Trace> trace = open_file(paths[0], given[0], limits);
        std::vector<GraphCapture> captures;
        if (trace.ok()) captures = graph_captures_of(*trace, paths[0]);
        return captures.empty() ? std::move(trace) : Result<Trace>(note_captures(std::move(trace).value(), captures));
    }
    Batch about;
    Result<std::vector<File>> files = list_files(paths, about);
    if (!files.ok()) return files.error();
    std::vector<std::string> names = names_of(*files);
    std::vector<JobPart> parts;
    std::string first_error;
    for (std::size_t i = 0; i < files->size(); ++i) {
        const File& file = (*files)[i];
        const std::string& name = naming == Naming::base_names ? names[i] : file.path;
        Result<OpenedFile> opened = recognise_file(file.path, name, limits);
        if (opened.ok() && file.of_folder && opened->is_foreign()) {
            lose(about, Loss::foreign_file, names[i]);
            continue;
        }
        Result<Trace> trace = opened.ok() ? import_file(*opened) : Result<Trace>(opened.error());
        if (trace.ok()) {
            parts.push_back({names[i], std::move(trace).value()});
        } else {
            lose(about, Loss::unread_file, trace.error().message);
            if (first_error.empty()) first_error = trace.error().message;
        }
    }
    if (parts.empty())
        return Error{
            ExitCode::unreadable,
            fmt::format("cannot read {}: none of the {} files is a readable recording{}{}", shell_quoted_files(given),
                        files->size(), first_error.empty() ? "" : "; first error: ", first_error)};
    Origin origin = origin_of(parts, given);
    std::vector<JobPart> captures = take_captures(parts);
    if (parts.empty()) {
        std::vector<GraphCapture> all;
        for (const JobPart& part : captures)
            for (GraphCapture& each : graph_captures_of(part.trace, part.name)) all.push_back(std::move(each));
        return note_captures(merge_traces(std::move(captures), std::move(origin), std::move(about)), all);
    }
    Trace merged = parts.size() == 1 && about.tables.loss.rows == 0 && !captures.empty()
                       ? with_origin(std::move(parts[0].trace), std::move(origin))
                       : merge_traces(std::move(parts), std::move(origin), std::move(about));
    return captures.empty() ? std::move(merged) : name_graph_ops(std::move(merged), captures);
}

}  // namespace gpuprof::importers
