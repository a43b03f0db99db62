// Words of commands that users copy, quoted so that a shell (sh, bash, zsh, ksh) takes each as one word, whatever the
// name of a file. Control characters, line ends and bytes that are not UTF-8 are written as $'...' (not supported by
// dash), so that the command stays on one line and does not affect the terminal.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gpuprof::inline base {

// "a b" -> 'a b', "it's" -> 'it'\''s', "a\nb" -> $'a\nb'; text that needs no quotes stays unchanged.
std::string shell_quoted(std::string_view word);
// The same for a file name, which must not be mistaken for an option: "-o" -> ./-o. "-" is standard input.
std::string shell_quoted_file(std::string_view file);
// Several files as words of one command; the file of an Origin is such a text.
std::string shell_quoted_files(std::span<const std::string> files);
// The reverse, for display only: the files that such a text names, separated by spaces.
std::string plain_files(std::string_view words);

// The name of a file within its folder, for output that leaves this machine: folders reveal users and projects.
std::string base_name(const std::string& path);

}  // namespace gpuprof::base
