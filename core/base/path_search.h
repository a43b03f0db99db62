// Where programs lie: others as a shell finds them, and our own.
#pragma once

#include <string>
#include <string_view>

namespace gpuprof {

// The first of `folders` (a value of PATH) that has `program` to run, with its name; "" when none has. They are looked at below
// `root`, which is not part of the answer. Only absolute folders are looked at: what lies in the current one may be anybody's.
std::string find_in_path(std::string_view program, std::string_view folders, const std::string& root = "");

// A program that a variable or we ourselves name: a name with a slash is the file, another is looked for in PATH as above.
std::string find_program(std::string_view name);

// Where the running program's file is.
// Its absolute path, links resolved; "" when the system does not tell.
std::string own_program();

}  // namespace gpuprof
