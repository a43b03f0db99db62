// The unreadable part of the input, in one sentence. Every answer and every error begins with it: everything after it
// is based on the rest of the input.
#pragma once

#include <string>

namespace gpuprof::inline model {

class Trace;

// "the input is damaged: 2 x a chunk of the capture ... (first: run.gpuprof: byte 1204)"; "" when all bytes were read.
std::string damage_of(const Trace& trace);

// `message` after that sentence.
std::string after_damage(const Trace& trace, std::string message);

}  // namespace gpuprof::model
