// Words of commands that are shown to be copied, such that a shell (sh, bash, zsh, ksh) takes each as the one word it is,
// whatever a file is called. Control characters, line ends and bytes that are no UTF-8 are written as $'...' has them (not in
// dash), so that the command stays on one line and does nothing to the terminal.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gpuprof {

// "a b" -> 'a b', "it's" -> 'it'\''s', "a\nb" -> $'a\nb'; what needs no quotes stays as it is.
std::string shell_quoted(std::string_view word);
// The same of a file's name, which must not be taken for an option: "-o" -> ./-o. "-" is standard input.
std::string shell_quoted_file(std::string_view file);
// Several files as words of one command; the file of an Origin is such a text.
std::string shell_quoted_files(std::span<const std::string> files);
// The reverse, for what is not to be copied: the files that such a text names, with blanks between.
std::string plain_files(std::string_view words);

// What a file is called in its folder, for what leaves this machine: folders tell of users and projects.
std::string base_name(const std::string& path);

}  // namespace gpuprof
