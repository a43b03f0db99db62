// The Python stack of the calling thread, in a process with CPython: read from the process's own memory, with the same
// reader and the same layouts as `record --python` uses from outside. It works whether or not the thread holds the GIL,
// because a thread's frames do not change while it is in a call. Memory is read by process_vm_readv(2), which fails
// where a load would end the program.
#pragma once

#include <string_view>

#include "collect/python/process_memory.h"
#include "collect/python/stack_reader.h"

namespace gpuprof::inject {

// One per thread; it caches names.
class PythonStack {
public:
    // Null: the process has no CPython that can be read, or memory ran out.
    static PythonStack* make() noexcept;
    // Frames as in stack_sample, outermost first; "" if the thread runs no Python code. Valid until the next call.
    std::string_view read() noexcept;

private:
    PythonStack(const python::Layout& layout, python::RuntimeAddresses addresses);

    python::ProcessMemory memory_;
    python::StackReader reader_;
};

// Why Python frames are missing from stacks: "" if they are not, or if the process has no CPython.
const char* python_refusal() noexcept;

}  // namespace gpuprof::inject
