// A job that can be shown to others: hosts, files and users under short names, numbered in the order of ranks, so the same
// job always gets the same names. Kernels and groups keep theirs (`scrub` replaces them).
#pragma once

#include "core/model/trace.h"

namespace gpuprof::inline cli {

Trace anonymous_job(Trace job);

}  // namespace gpuprof::cli
