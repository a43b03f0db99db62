// One frame of a Python stack, in the two forms that recorders write: a sampler's `function (file:line)`, where the line is
// the one that ran, and torch.profiler's `file(line): function`, where it is the line at which the function is defined.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuprof {

// The parts of a frame; a frame of another form is all function.
struct PythonFrame {
    std::string_view function, file;
    std::int64_t line = -1;  // -1: none
};
PythonFrame parse_frame(std::string_view frame);

// Of the name of a recorded call. Builtins lose the address of their object (`<built-in method add of Tensor object>`), because
// calls of one function are one function whatever object they are given.
PythonFrame parse_python_call(std::string_view name);

// `function (file:line)`, with what is known of it.
std::string to_text(const PythonFrame& frame);

}  // namespace gpuprof
