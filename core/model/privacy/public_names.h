// Names that everybody knows and that say nothing about who uses them: programs, files of packages and of the system,
// operators and ranges of frameworks, metrics of profilers.
#pragma once

#include <cstddef>
#include <string_view>

namespace gpuprof::inline model {

bool is_public_program(std::string_view name);

// "torch/nn/module.py" of a path below site-packages, "libcuda.so.1"; "" for a file of the program's own.
std::string_view public_file(std::string_view path);

// A metric of a profile (call_metric) that profilers write by themselves.
bool is_public_metric(std::string_view name);

// How many characters at the start of the name of an operator or range come from a framework: all of "aten::mm", the
// first 15 of "Optimizer.step#Mine", none of other names.
std::size_t framework_part(std::string_view name);

// A name of a host or user that many share ("root", "localhost") or that is a word of every recording ("train"):
// replacing it in texts would hide nothing and spoil much.
bool is_ordinary_name(std::string_view name);

}  // namespace gpuprof::model
