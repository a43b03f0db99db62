// The measurements in spool files, in order: what the injected library wrote before and after each (core/format/spool.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/format/chunk_reader.h"
#include "core/format/spool.h"

namespace gpuprof::counters {

struct Measurement {
    std::string process;     // key of the process
    std::int64_t rank = -1;  // of the process in a distributed job; -1: none
    std::string name;        // of the kernel, demangled, or of the range
    spool::CounterLaunch launch{};
    spool::CounterImage about{};
    std::string image;
    bool complete = false;  // whether anything was written after the note: if not, the process ended before
};

struct Skipped {
    std::uint64_t count = 0;
    std::string first;  // name of a kernel
};

struct SpooledImages {
    std::vector<Measurement> measurements;
    std::map<spool::CounterSkip, Skipped> skipped;  // of all processes
    std::vector<std::string> hung;                  // sentences
    std::vector<std::string> refused;               // what the library could not begin, as sentences
};

// Adds what a file holds; damaged chunks are missing.
Status read_images(const std::string& file, SpooledImages& to);
Status read_images(ByteInput& input, SpooledImages& to);

}  // namespace gpuprof::counters
