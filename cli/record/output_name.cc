#include "cli/record/output_name.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "core/base/caught.h"

namespace gpuprof::inline cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxWidth = 10;

// NAME or NAME:0W.
struct NameVariable {
    std::string name;
    std::size_t width = 0;
};

Result<NameVariable> parse_variable(const std::string& text, const std::string& whole) {
    std::size_t colon = text.find(':');
    NameVariable variable{text.substr(0, colon), 0};
    if (colon == std::string::npos) return variable;
    std::string width = text.substr(colon + 1);
    std::optional<std::int64_t> digits = place_number(width);
    if (!width.starts_with('0') || !digits || *digits < 1 || *digits > static_cast<std::int64_t>(kMaxWidth))
        return Error{ExitCode::usage,
                     fmt::format("invalid width '{}' in output name '{}'; expected 0 and 1 to {}, such "
                                 "as {{rank:05}}",
                                 width, whole, kMaxWidth)};
    variable.width = static_cast<std::size_t>(*digits);
    return variable;
}

std::string known_names(const NameVariables& variables) {
    std::vector<std::string> names;
    for (const auto& [name, value] : variables)
        if (!value.empty()) names.push_back(fmt::format("{{{}}}", name));
    return fmt::format("{}", fmt::join(names, ", "));
}

// The variables of the environment that would have said it.
std::string asked_for(const std::string& name) {
    constexpr std::pair<std::string_view, const char * Launcher::*> kNumbers[] = {
        {"rank", &Launcher::rank},
        {"local_rank", &Launcher::local_rank},
        {"world_size", &Launcher::world_size},
        {"node_rank", &Launcher::node_rank},
        {"restart", &Launcher::restart},
    };
    const char* Launcher::*variable = &Launcher::job;
    for (const auto& [known, of_launcher] : kNumbers)
        if (name == known) variable = of_launcher;
    std::vector<std::string> asked;
    for (const Launcher& launcher : kLaunchers)
        if (*(launcher.*variable) != '\0') asked.push_back(launcher.*variable);
    return fmt::format("{}", fmt::join(asked, ", "));
}

Result<std::string> value_of(const NameVariable& variable, const std::string& whole, const NameVariables& variables) {
    auto known = variables.find(variable.name);
    if (known == variables.end())
        return Error{ExitCode::usage, fmt::format("unknown variable '{{{}}}' in output name '{}'; known here: {}",
                                                  variable.name, whole, known_names(variables))};
    std::string value = known->second;
    if (value.empty())
        return Error{
            ExitCode::usage,
            fmt::format("output name '{}' needs {{{}}}, which no launcher set: none of {} is usable; start record on "
                        "each rank (torchrun --no-python gpu-profile record ..., srun gpu-profile record ...); known "
                        "here: {}",
                        whole, variable.name, asked_for(variable.name), known_names(variables))};
    if (value.find('/') != std::string::npos || value == "." || value == "..")
        return Error{ExitCode::usage,
                     fmt::format("{{{}}} is '{}' here; file names cannot contain it", variable.name, value)};
    if (variable.width > 0 && !place_number(value))
        return Error{ExitCode::usage,
                     fmt::format("{{{}}} is '{}' here, which is not a number; remove the width", variable.name, value)};
    return std::string(variable.width > value.size() ? variable.width - value.size() : 0, '0') + value;
}

}  // namespace

NameVariables name_variables(const JobPlace& place, const std::string& host) {
    auto number = [](std::optional<std::int64_t> value) { return value ? std::to_string(*value) : std::string(); };
    return {{"rank", number(place.rank)},
            {"local_rank", number(place.local_rank)},
            {"world_size", number(place.world_size)},
            {"node_rank", number(place.node_rank)},
            {"restart", number(place.restart)},
            {"job", std::string(place.job)},
            {"host", host},
            {"pid", std::to_string(getpid())}};
}

bool has_variables(const std::string& name) { return name.find_first_of("{}") != std::string::npos; }

Result<std::string> expand_name(const std::string& name, const NameVariables& variables) {
    std::string expanded;
    for (std::size_t at = 0; at < name.size(); ++at) {
        char c = name[at];
        bool doubled = at + 1 < name.size() && name[at + 1] == c;
        if ((c != '{' && c != '}') || doubled) {
            expanded += c;
            at += c == '{' || c == '}' ? 1 : 0;
            continue;
        }
        std::size_t close = c == '{' ? name.find('}', at) : std::string::npos;
        if (close == std::string::npos)
            return Error{ExitCode::usage,
                         fmt::format("unmatched '{}' in output name '{}'; write {}{} for a brace", c, name, c, c)};
        Result<NameVariable> variable = parse_variable(name.substr(at + 1, close - at - 1), name);
        if (!variable.ok()) return variable.error();
        Result<std::string> value = value_of(*variable, name, variables);
        if (!value.ok()) return value.error();
        expanded += *value;
        at = close;
    }
    return expanded;
}

Result<ReservedName> ReservedName::reserve(const std::string& file) {
    std::error_code failed;
    if (fs::path folder = fs::path(file).parent_path(); !folder.empty()) fs::create_directories(folder, failed);
    if (failed)
        return Error{ExitCode::internal, fmt::format("cannot create the folder of {}: {}", file, failed.message())};
    constexpr mode_t kOwner = 0600;
    int made = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kOwner);
    if (made < 0 && errno == EEXIST)
        return Error{ExitCode::usage,
                     fmt::format("{} exists; names with variables are never overwritten: choose another name, such as "
                                 "one with {{rank}}, {{job}}, {{restart}} or {{pid}}, or remove the file",
                                 file)};
    if (made < 0) return Error{ExitCode::internal, fmt::format("cannot write {}: {}", file, std::strerror(errno))};
    ::close(made);
    return ReservedName(file);
}

ReservedName::~ReservedName() {
    std::error_code failed;
    (void)caught([&] {
        if (!file_.empty() && fs::file_size(file_, failed) == 0 && !failed) fs::remove(file_, failed);
    });
}

}  // namespace gpuprof::cli
