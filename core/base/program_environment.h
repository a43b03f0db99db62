// The environment of a program that is to be started: a copy of this program's, with changes. This program's own is not
// changed, because its threads read it, and getenv(3) in one thread while another calls setenv(3) may crash.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::inline base {

class ProgramEnvironment {
public:
    ProgramEnvironment();

    // Absent if the variable is not set.
    std::optional<std::string> get(std::string_view name) const;
    void set(std::string_view name, std::string_view value);
    void set_if_absent(std::string_view name, std::string_view value);
    void remove(std::string_view name);
    // Every variable whose name begins so.
    void remove_beginning(std::string_view beginning);

    // For execve(2), which does not change them; valid until the next change.
    std::vector<char*> pointers() const;

private:
    std::vector<std::string> entries_;  // NAME=VALUE
};

}  // namespace gpuprof::base
