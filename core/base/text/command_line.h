// A process's arguments as one line of text without secrets; each secret is replaced by "***". Recognized, also inside
// the string of `bash -c '...'`, are:
//   --token X, --token=X, HF_TOKEN=X, ?api_key=X, "password": "X"   names of core/base/text/secrets.h
//   Authorization: Bearer X                                         headers of such names, to their end
//   https://user:password@host                                      what stands before the @
//   -u user:password, --user user:password                          what stands after the colon
//   mysql -pX, sshpass -p X, redis-cli -a X                         passwords of programs known for them
//   hf_..., ghp_..., AKIA..., eyJ....eyJ..., private keys           tokens by their shape, wherever they stand
// Used by the launcher and, inside other people's programs, by the injected library: nothing here allocates, throws or
// locks (except without_secrets()), and the time is linear in the length of the text.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace gpuprof::inline base {

// Writes the arguments of `raw`, each terminated by NUL as in /proc/PID/cmdline, to `to`, separated by spaces. Returns
// the length. Arguments that do not fit are dropped whole.
std::size_t write_command(std::string_view raw, char* to, std::size_t capacity) noexcept;

// The same for a command line that is already one text, as other recorders store it.
std::size_t write_command_text(std::string_view text, char* to, std::size_t capacity) noexcept;

inline std::string without_secrets(std::span<const std::string> arguments) {
    std::string raw;
    for (const std::string& argument : arguments) raw.append(argument).push_back('\0');
    std::string text(3 * raw.size() + 8, '\0');  // stars may be longer than the text they replace
    text.resize(write_command(raw, text.data(), text.size()));
    return text;
}
inline std::string without_secrets(std::string_view command) {
    std::string text(3 * command.size() + 8, '\0');
    text.resize(write_command_text(command, text.data(), text.size()));
    return text;
}

}  // namespace gpuprof::base
