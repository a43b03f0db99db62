#include "core/base/program_environment.h"

extern char** environ;

namespace gpuprof::inline base {
namespace {

bool names(std::string_view entry, std::string_view name) {
    return entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=';
}

}  // namespace

ProgramEnvironment::ProgramEnvironment() {
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) entries_.emplace_back(*entry);
}

std::optional<std::string> ProgramEnvironment::get(std::string_view name) const {
    for (const std::string& entry : entries_)
        if (names(entry, name)) return entry.substr(name.size() + 1);
    return std::nullopt;
}

void ProgramEnvironment::set(std::string_view name, std::string_view value) {
    remove(name);
    std::string entry(name);
    entry += '=';
    entry += value;
    entries_.push_back(std::move(entry));
}

void ProgramEnvironment::set_if_absent(std::string_view name, std::string_view value) {
    if (!get(name)) set(name, value);
}

void ProgramEnvironment::remove(std::string_view name) {
    std::erase_if(entries_, [name](const std::string& entry) { return names(entry, name); });
}

void ProgramEnvironment::remove_beginning(std::string_view beginning) {
    std::erase_if(entries_, [beginning](const std::string& entry) { return entry.starts_with(beginning); });
}

std::vector<char*> ProgramEnvironment::pointers() const {
    std::vector<char*> all;
    for (const std::string& entry : entries_) all.push_back(const_cast<char*>(entry.c_str()));
    all.push_back(nullptr);
    return all;
}

}  // namespace gpuprof::base
