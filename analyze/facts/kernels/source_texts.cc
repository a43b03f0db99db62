#include "analyze/facts/kernels/source_texts.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "core/base/files/named_files.h"

namespace gpuprof::inline facts {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxBytes = 4 * 1024 * 1024;
constexpr std::size_t kMaxPath = 4096;  // bytes

// The file that a recorded path means in `folder`, with links resolved: itself if it lies there, else the longest end of it that does;
// empty if there is none, or if looking it up failed: `failure` says why.
fs::path locate(const std::string& folder, std::string_view recorded, std::string& failure) {
    NamedFiles files({folder});
    auto is_there = [&](const Result<std::string>& found) {
        if (!found.ok() && found.error().code == ExitCode::internal) failure = found.error().message;
        return found.ok();
    };
    if (Result<std::string> itself = files.find(std::string(recorded)); is_there(itself)) return *itself;
    fs::path path = fs::path(recorded).lexically_normal().relative_path();
    for (auto first = path.begin(); first != path.end(); ++first) {
        if (*first == "..") continue;
        fs::path end = folder;
        for (auto part = first; part != path.end(); ++part) end /= *part;
        if (Result<std::string> found = files.find(end.string()); is_there(found)) return *found;
    }
    return {};
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kSpaces = " \t\r";
    std::size_t first = text.find_first_not_of(kSpaces);
    return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

}  // namespace

std::string SourceTexts::place(std::string_view file) const {
    if (folder_.empty() || file.empty() || file.size() > kMaxPath) return {};
    std::error_code none;
    std::string ignored;
    fs::path path = locate(folder_, file, ignored), root = fs::canonical(folder_, none);
    return path.empty() || none ? std::string() : path.lexically_relative(root).string();
}

const std::vector<std::string>& SourceTexts::lines_of(std::string_view file) {
    auto known = files_.find(file);
    if (known != files_.end()) return known->second;
    std::vector<std::string>& lines = files_[std::string(file)];
    std::string failure;
    fs::path path = locate(folder_, file, failure);
    if (path.empty() && !failure.empty()) unreadable_.push_back(failure);
    if (path.empty()) return lines;
    auto give_up = [&](std::string_view why) -> const std::vector<std::string>& {
        unreadable_.push_back(fmt::format("{}: {}", path.string(), why));
        lines.clear();
        return lines;
    };
    std::error_code failed;
    std::uintmax_t size = fs::file_size(path, failed);
    if (failed) return give_up(failed.message());
    if (size > kMaxBytes) return give_up("it exceeds 4 MiB");
    errno = 0;
    std::ifstream stream(path, std::ios::binary);
    if (!stream.is_open()) return give_up(std::strerror(errno));
    std::uintmax_t bytes = 0;
    for (std::string line; std::getline(stream, line); bytes += line.size() + 1) lines.emplace_back(trimmed(line));
    if (stream.bad() || bytes < size) return give_up("reading it failed");
    return lines;
}

std::optional<std::string_view> SourceTexts::line(std::string_view file, std::int64_t number) {
    if (folder_.empty() || file.empty() || file.size() > kMaxPath) return std::nullopt;
    if (file.find('\0') != std::string_view::npos) return std::nullopt;
    const std::vector<std::string>& lines = lines_of(file);
    if (number < 1 || static_cast<std::uint64_t>(number) > lines.size()) return std::nullopt;
    return lines[static_cast<std::size_t>(number - 1)];
}

}  // namespace gpuprof::facts
