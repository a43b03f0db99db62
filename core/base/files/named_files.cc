#include "core/base/files/named_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace gpuprof::inline base {
namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& given) {
    std::error_code problem;
    fs::path real = fs::canonical(given, problem);
    if (problem) return "";
    if (!fs::is_directory(real, problem)) real = real.parent_path();
    std::string folder = real.string();
    return folder.ends_with('/') ? folder : folder + '/';
}

}  // namespace

NamedFiles::NamedFiles(const std::vector<std::string>& given) {
    for (const std::string& each : given)
        if (std::string folder = folder_of(each); !folder.empty()) folders_.push_back(std::move(folder));
}

Result<std::string> NamedFiles::find(const std::string& name) const {
    std::error_code problem;
    std::string real = fs::canonical(name, problem).string();
    bool regular = !problem && fs::is_regular_file(real, problem);
    if (problem && problem != std::errc::no_such_file_or_directory && problem != std::errc::not_a_directory)
        return Error{ExitCode::internal, fmt::format("cannot read {}: {}", name, problem.message())};
    if (!regular) return Error{ExitCode::unreadable, fmt::format("{} is not there", name)};
    if (std::none_of(folders_.begin(), folders_.end(), [&](const std::string& each) { return real.starts_with(each); }))
        return Error{ExitCode::unreadable,
                     fmt::format("{} is not in the folder that was given; a recording may name any file", name)};
    return real;
}

}  // namespace gpuprof::base
