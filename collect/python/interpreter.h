// Finds CPython in a process: the mapped file that defines _PyRuntime (the program itself, or libpython), its load
// address, and its version.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "collect/cpu/proc_files.h"
#include "collect/python/layout.h"
#include "collect/python/stack_reader.h"

namespace gpuprof::python {

// One line of /proc/PID/maps that names a file.
struct Mapping {
    Address begin = 0;
    std::uint64_t offset = 0;
    std::string_view path;
};
std::optional<Mapping> parse_mapping(std::string_view line);

// The minor version from a file name, such as 11 for libpython3.11.so.1.0 and python3.11; 0 if unknown.
std::uint32_t minor_in_name(std::string_view path);

struct Interpreter {
    RuntimeAddresses addresses;
    Layout layout;
};

enum class SearchOutcome {
    found,
    none,         // no CPython here, or not yet
    refused,      // the system does not allow reading this process
    unsupported,  // a CPython with unknown structures; `minor` is its version
};

struct InterpreterSearch {
    SearchOutcome outcome = SearchOutcome::none;
    std::uint32_t minor = 0;
    Interpreter interpreter;
};

InterpreterSearch find_interpreter(ProcFiles& files, pid_t pid);

}  // namespace gpuprof::python
