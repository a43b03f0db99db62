// Finds CPython in a process: the file among its mappings that defines _PyRuntime (the program itself, or libpython), where
// it is loaded, and which version it is.
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

// Minor version by the name of a file, e.g. 11 of libpython3.11.so.1.0 and python3.11; 0 when it does not tell.
std::uint32_t minor_in_name(std::string_view path);

struct Interpreter {
    Landmarks landmarks;
    Layout layout;
};

enum class Search {
    found,
    none,         // no CPython here, or not yet
    refused,      // the system does not let us read this process
    unsupported,  // a CPython whose structures are not known; `minor` says which
};

struct Finding {
    Search outcome = Search::none;
    std::uint32_t minor = 0;
    Interpreter interpreter;
};

Finding find_interpreter(ProcFiles& files, pid_t pid);

}  // namespace gpuprof::python
