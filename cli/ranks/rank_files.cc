#include "cli/ranks/rank_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <regex>
#include <set>

#include "analyze/knowledge/serving_names.h"
#include "io/importers/open_trace.h"

namespace gpuprof::inline cli {
namespace {

namespace fs = std::filesystem;

std::optional<std::int32_t> number(const std::string& digits) {
    std::int32_t value = 0;
    auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return failed == std::errc() && end == digits.data() + digits.size() && value >= 0 ? std::optional(value)
                                                                                       : std::nullopt;
}

Result<std::optional<std::regex>> pattern_of(const std::string& text, std::string_view option) {
    if (text.empty()) return std::optional<std::regex>();
    try {
        std::regex pattern(text);
        if (pattern.mark_count() == 1) return std::optional(pattern);
    } catch (const std::regex_error&) {
    }
    return Error{ExitCode::usage,
                 fmt::format("{} '{}' is not a regular expression with one group, as in 'rank(\\d+)'", option, text)};
}

std::string group_in(const std::string& name, const std::regex& pattern) {
    std::smatch found;
    return std::regex_search(name, found, pattern) ? found[1].str() : std::string();
}

ListedFile local_file(const std::string& path) {
    ListedFile listed;
    listed.file.path = path;
    struct stat about {};
    if (stat(path.c_str(), &about) != 0) return listed;
    listed.file.bytes = S_ISREG(about.st_mode) ? static_cast<std::uint64_t>(about.st_size) : 0;
    listed.stamp = fmt::format("{}.{:09}|{}", about.st_mtim.tv_sec, about.st_mtim.tv_nsec, about.st_ino);
    return listed;
}

}  // namespace

std::optional<std::int32_t> rank_in_name(const std::string& name) {
    static const std::regex kUsual("(?:^|[^a-zA-Z])(?:rank|r)[-_.]?([0-9]+)(?![a-zA-Z0-9])", std::regex::icase);
    // SGLang: 1775078550-TP-3-DP-1.trace.json.gz. Stages of a pipeline number their ranks again.
    static const std::regex kTensorParallel("(?:^|-)TP-([0-9]+)(?!.*-PP-)");
    std::string usual = group_in(name, kUsual);
    return number(usual.empty() ? group_in(name, kTensorParallel) : usual);
}

namespace {

// Stages of a server count their shards again. Where no name has a number, the ranks are numbered in the order of their places.
void number_by_place(std::vector<ListedFile>& files) {
    using Place = std::pair<ParallelPlace, std::size_t>;
    std::vector<Place> places;
    std::set<ParallelPlace> different;
    bool unnumbered = false;
    for (std::size_t i = 0; i < files.size(); ++i) {
        ParallelPlace place = parallel_place(fs::path(files[i].file.path).filename().string());
        if (!place.known()) return;
        places.emplace_back(place, i);
        different.insert(place);
        unnumbered = unnumbered || !files[i].file.rank;
    }
    if (!unnumbered || different.size() != files.size()) return;
    std::sort(places.begin(), places.end());
    for (std::size_t i = 0; i < places.size(); ++i) files[places[i].second].file.rank = static_cast<std::int32_t>(i);
}

}  // namespace

Result<std::vector<ListedFile>> list_rank_files(std::span<const JobInput> inputs, const RankNames& names) {
    Result<std::optional<std::regex>> rank = pattern_of(names.rank_from, "--rank-from");
    if (!rank.ok()) return rank.error();
    Result<std::optional<std::regex>> host = pattern_of(names.host_from, "--host-from");
    if (!host.ok()) return host.error();
    std::vector<ListedFile> files;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const JobInput& input = inputs[i];
        std::error_code unknown;
        if (input.stored) {
            ListedFile& listed = files.emplace_back();
            listed.file.path = input.path;
            listed.file.bytes = input.bytes;
            listed.stamp = input.stamp;
            listed.input = i;
        } else if (!fs::is_directory(input.path, unknown)) {
            files.push_back(local_file(input.path));
        } else {
            Result<FolderFiles> folder = files_of_folder(input.path);
            if (!folder.ok()) return folder.error();
            for (const std::string& path : folder->files) files.push_back(local_file(path));
        }
    }
    for (ListedFile& each : files) {
        RankFile& file = each.file;
        std::string name = fs::path(file.path).filename().string();
        file.rank = *rank ? number(group_in(name, **rank)) : rank_in_name(name);
        if (*host) file.host = group_in(name, **host);
        if (!file.host.empty()) file.host_from = "option";
    }
    if (!*rank) number_by_place(files);
    return files;
}

}  // namespace gpuprof::cli
