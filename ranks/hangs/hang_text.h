// Hangs in words.
#pragma once

#include <string>

#include "ranks/hangs/hangs.h"

namespace gpuprof::inline ranks {

// The first line of an answer: about the first root, or that there is none.
std::string hang_sentence(const Hangs& hangs);

}  // namespace gpuprof::ranks
