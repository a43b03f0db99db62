#include "collect/launch/command_environment.h"

extern char** environ;

namespace gpuprof::inline launch {
namespace {

bool names(std::string_view entry, std::string_view name) {
    return entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=';
}

}  // namespace

CommandEnvironment::CommandEnvironment() {
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) entries_.emplace_back(*entry);
}

std::optional<std::string> CommandEnvironment::get(std::string_view name) const {
    for (const std::string& entry : entries_)
        if (names(entry, name)) return entry.substr(name.size() + 1);
    return std::nullopt;
}

void CommandEnvironment::set(std::string_view name, std::string_view value) {
    remove(name);
    std::string entry(name);
    entry += '=';
    entry += value;
    entries_.push_back(std::move(entry));
}

void CommandEnvironment::set_if_absent(std::string_view name, std::string_view value) {
    if (!get(name)) set(name, value);
}

void CommandEnvironment::remove(std::string_view name) {
    std::erase_if(entries_, [name](const std::string& entry) { return names(entry, name); });
}

std::vector<char*> CommandEnvironment::pointers() {
    std::vector<char*> all;
    for (std::string& entry : entries_) all.push_back(entry.data());
    all.push_back(nullptr);
    return all;
}

}  // namespace gpuprof::launch
