// A process's arguments as one line of text without secrets; each is replaced by "***". Recognised, also inside the string
// of `bash -c '...'`, are:
//   --token X, --token=X, HF_TOKEN=X, ?api_key=X, "password": "X"   names of core/base/secrets.h
//   Authorization: Bearer X                                         headers of such names, to their end
//   https://user:password@host                                      what stands before the @
//   -u user:password, --user user:password                          what stands after the colon
//   mysql -pX, sshpass -p X, redis-cli -a X                         passwords of programs known for them
//   hf_..., ghp_..., AKIA..., eyJ....eyJ..., private keys           tokens by their shape, wherever they stand
// Used by the launcher and, inside other people's programs, by the injected library: nothing here allocates, throws or
// locks (but without_secrets()), and the time is linear in the length of the text.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace gpuprof {

// Writes the arguments of `raw`, each ended by a NUL as /proc/PID/cmdline has them, separated by blanks to `to`; the
// length. What does not fit is left out, whole arguments at a time.
std::size_t write_command(std::string_view raw, char* to, std::size_t capacity) noexcept;

// The same of a command line that is one text already, such as those that other recorders stored.
std::size_t write_command_text(std::string_view text, char* to, std::size_t capacity) noexcept;

inline std::string without_secrets(std::span<const std::string> arguments) {
    std::string raw;
    for (const std::string& argument : arguments) raw.append(argument).push_back('\0');
    std::string text(3 * raw.size() + 8, '\0');  // stars may be longer than what they replace
    text.resize(write_command(raw, text.data(), text.size()));
    return text;
}
inline std::string without_secrets(std::string_view command) {
    std::string text(3 * command.size() + 8, '\0');
    text.resize(write_command_text(command, text.data(), text.size()));
    return text;
}

}  // namespace gpuprof
