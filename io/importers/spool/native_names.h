// Names of native functions on the machine that ran them: `symbol (module)` for an address in a file, or
// `0x1f40 (module)` if the file has no name for it, is another machine's, or changed since it ran.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/elf_symbols.h"
#include "core/base/files/file_view.h"
#include "core/base/ids.h"

namespace gpuprof::inline importers {

// Whether the files that a recording names as those that ran may be opened.
enum class CodeFiles { closed, open };

class NativeNames {
public:
    // `boot_id`: of the machine that ran the program. `since`: files that changed later are not those that ran.
    NativeNames(CodeFiles files, std::string_view boot_id, TimeNs since);

    struct Name {
        std::string function;     // demangled, without parameters and template arguments; "" if unknown
        std::string_view module;  // the file's name; "" for code that is in no file
    };
    // `address`: a return address, as the file's symbol table counts.
    Name of(std::string_view path, std::uint64_t address);
    static std::string text(const Name& name, std::uint64_t address);

private:
    struct Module {
        explicit Module(const std::string& path) : file(path), functions(file.bytes()) {}
        FileView file;
        ElfFunctions functions;
    };
    const Module* module(std::string_view path);

    bool readable_;
    TimeNs since_;
    std::map<std::string, std::unique_ptr<Module>, std::less<>> modules_;  // null: not readable
};

// Native frames that every launch has, by function and file name, and which say nothing about the program.

inline bool begins_with_one_of(std::string_view text, std::initializer_list<std::string_view> beginnings) {
    for (std::string_view each : beginnings)
        if (text.starts_with(each)) return true;
    return false;
}

// Innermost: the recorder, CUPTI, the driver and the runtime, which may be linked into a program statically.
inline bool is_launching(std::string_view function, std::string_view module) {
    return begins_with_one_of(module, {"libgpuprof", "libcupti", "libcuda.so", "libcudart", "libToolsInjection"}) ||
           begins_with_one_of(function, {"cudaLaunch", "cudaGraph", "cudaMem", "cuLaunch", "cuGraph", "cuMem",
                                         "__cudart", "libcudart_static"});
}
inline bool is_interpreter(std::string_view function, std::string_view module) {
    return function.find("PyEval_EvalFrame") != std::string_view::npos ||
           begins_with_one_of(module, {"python", "libpython"});
}
// Outermost: what the C library does before main() or a thread's function.
inline bool starts_thread(std::string_view function, std::string_view module) {
    return begins_with_one_of(module, {"libc.so", "libpthread.so", "ld-linux", "libc-2", "libpthread-2"}) ||
           function == "_start";
}

}  // namespace gpuprof::importers
