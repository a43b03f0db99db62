// What the fake's PC sampling and SASS metrics see; from the file that the environment variable GPUPROF_FAKE_STALLS names, one line each:
//
//   reason INDEX NAME                       a stall reason of the chip; without any there are five
//   module FILE                             a cubin, loaded in every context; modules are numbered from 0
//   sample KERNEL FUNCTION MODULE OFFSET INDEX=COUNT...
//                                           what each run of a kernel with KERNEL in its name adds at an instruction
//   count KERNEL FUNCTION MODULE OFFSET METRIC=VALUE...
//                                           the same of SASS metrics; the others of the instruction are 0
//   split                                   each SASS metric has a record of its own
//   dropped N, others N                     per span: samples that the hardware dropped, and of kernels without records
//   full                                    the hardware buffer overflows: no records, and code 8
//   page N                                  records that GetData returns at a time
//   late N                                  records that it withholds, until Disable
//   contexts N                              contexts of the one GPU (1)
//   destroy                                 they go away after an inline play
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fake_cupti {

struct StallScript {
    struct Sample {
        std::string kernel, function;
        std::size_t module = 0;
        std::uint64_t offset = 0;
        std::map<std::uint32_t, std::uint32_t> counts;
    };
    struct Count {
        std::string kernel, function;
        std::size_t module = 0;
        std::uint64_t offset = 0;
        std::map<std::string, std::uint64_t> values;
    };
    std::vector<Count> counts;
    bool split = false;
    std::map<std::uint32_t, std::string> reasons;
    std::vector<std::string> modules;  // bytes
    std::vector<Sample> samples;
    std::uint64_t dropped = 0, others = 0;
    std::size_t page = 4096, late = 0, contexts = 1;
    bool full = false, destroy = false;
};
const StallScript& stall_script();

// CUPTI tells of contexts and their modules when they are made, and when they go away.
void tell_of_contexts();
void end_contexts();
// The driver runs a kernel.
void sample_kernel(const char* name);
void count_kernel(const char* name);
std::uint64_t crc_of(const std::string& cubin);

}  // namespace fake_cupti
