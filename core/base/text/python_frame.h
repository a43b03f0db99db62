// One frame of a Python stack, in the two forms that recorders write: a sampler's `function (file:line)` with the line
// that ran, and torch.profiler's `file(line): function` with the line that defines the function.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuprof::inline base {

// Calls visit(frame) for each frame of a stack, outermost first.
template <class Visit>
void each_frame(std::string_view stack, Visit&& visit) {
    while (!stack.empty()) {
        std::string_view frame = stack.substr(0, stack.find(';'));
        stack.remove_prefix(frame.size() < stack.size() ? frame.size() + 1 : stack.size());
        visit(frame);
    }
}
inline std::string_view innermost_frame(std::string_view stack) { return stack.substr(stack.rfind(';') + 1); }

// The parts of a frame. A frame of another form is all function.
struct PythonFrame {
    std::string_view function, file;
    std::int64_t line = -1;  // -1: none
};
PythonFrame parse_frame(std::string_view frame);

// From the name of a recorded call. Builtins lose the address of their object (`<built-in method add of Tensor
// object>`), because calls of one function belong together whatever their object.
PythonFrame parse_python_call(std::string_view name);

// `function (file:line)`, with the known parts.
std::string to_text(const PythonFrame& frame);

}  // namespace gpuprof::base
