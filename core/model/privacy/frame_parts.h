// The parts of a stack frame that scrub treats differently, in the forms that recorders write:
//   file(line): function                    torch.profiler
//   function (file:line), symbol (module)   samplers, pprof, PyTorch's memory snapshots
//   file:line@function, file:function@line  Proton
//   File "file", line 1, in function        Python's tracebacks
//   file:line, function                     a place or a symbol alone, also after "at "
// A file is whatever stands in its place, however it looks; a function is a name of Python, C++ or Rust.
#pragma once

#include <string_view>
#include <vector>

namespace gpuprof::inline model {

struct FramePart {
    enum class Kind { text, file, function } kind;
    std::string_view text;
};
// Joined, they are the frame. None if the frame has no known form.
using FrameParts = std::vector<FramePart>;
FrameParts frame_parts(std::string_view frame);

// Whether a text that may be no frame at all names a file: a path with a line, or a name of a file's form.
bool names_a_file(const FrameParts& parts);

}  // namespace gpuprof::model
