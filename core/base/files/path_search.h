// Where programs are: others as a shell finds them, and our own.
#pragma once

#include <string>
#include <string_view>

namespace gpuprof::inline base {

// Path of an executable `program` in the first of `folders` (a value of PATH) that has one, or "". Folders are searched
// below `root`, which the answer omits. Only absolute folders count: anybody may have put files into the current one.
std::string find_in_path(std::string_view program, std::string_view folders, const std::string& root = "");

// A program named by a variable or by us: a name with a slash is the file, any other is searched in PATH as above.
std::string find_program(std::string_view name);

// Absolute path of the running program's file, links resolved; "" if the system does not report it.
std::string this_executable();

// A file that is installed with the program: next to it as in a build, else in lib/gpu-profile
// or lib of its prefix. "" if missing.
std::string installed_file(std::string_view name);

}  // namespace gpuprof::base
