#include "cli/ranks/rank_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <regex>

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

}  // namespace

std::optional<std::int32_t> rank_in_name(const std::string& name) {
    static const std::regex kUsual("(?:^|[^a-zA-Z])(?:rank|r)[-_.]?([0-9]+)(?![a-zA-Z0-9])", std::regex::icase);
    return number(group_in(name, kUsual));
}

Result<std::vector<RankFile>> list_rank_files(std::span<const std::string> paths, const RankNames& names) {
    Result<std::optional<std::regex>> rank = pattern_of(names.rank_from, "--rank-from");
    if (!rank.ok()) return rank.error();
    Result<std::optional<std::regex>> host = pattern_of(names.host_from, "--host-from");
    if (!host.ok()) return host.error();
    std::vector<std::string> paths_found;
    for (const std::string& path : paths) {
        std::error_code unknown;
        if (!fs::is_directory(path, unknown)) {
            paths_found.push_back(path);
            continue;
        }
        Result<FolderFiles> folder = files_of_folder(path);
        if (!folder.ok()) return folder.error();
        paths_found.insert(paths_found.end(), folder->files.begin(), folder->files.end());
    }
    std::vector<RankFile> files;
    for (const std::string& path : paths_found) {
        RankFile& file = files.emplace_back();
        std::string name = fs::path(path).filename().string();
        std::error_code unknown;
        std::uintmax_t bytes = fs::file_size(path, unknown);
        file.path = path;
        file.bytes = unknown ? 0 : bytes;
        file.rank = *rank ? number(group_in(name, **rank)) : rank_in_name(name);
        if (*host) file.host = group_in(name, **host);
        if (!file.host.empty()) file.host_from = "option";
    }
    return files;
}

}  // namespace gpuprof::cli
