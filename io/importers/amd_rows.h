// What the importers of AMD's recordings share: databases, JSON and Perfetto traces of one run must give the same rows.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/build/batch.h"

namespace gpuprof::inline importers::amd {

// "hip" of HIP_RUNTIME_API_EXT, "hsa", "rccl"; "" of categories that are no calls.
std::string api_of(std::string_view category);

// "HtoD" of MEMORY_COPY_HOST_TO_DEVICE; "" of other names.
std::string_view copy_kind(std::string_view name);

// Kind and ends of a copy: whether it reads from a GPU, writes to one, and whether these are two.
void put_copy_ends(Batch& batch, Row copy, bool reads, bool writes, bool peer);

// The program's calls for copies, of which the recorder wrote none.
void lose_untraced_copies(Batch& batch, std::uint64_t calls);

// The row of a GPU. `facts` is what rocprofiler-sdk writes about an agent.
void add_gpu(Batch& batch, std::int32_t number, std::string_view name, const simdjson::dom::element& facts);

// Blocks and threads of a launch in one dimension; AMD counts the work-items of a grid.
struct Extent {
    std::optional<std::int64_t> items, threads;
};
void put_shape(KernelTable& table, Row kernel, const Extent (&extents)[3]);

// Counters of a kernel belong to a row of profiled_kernel, which repeats what is known of the kernel. Its launch.
std::int64_t add_profiled_kernel(Batch& batch, Row kernel, std::optional<DurNs> dur);
void add_counter(Batch& batch, std::int64_t launch, StringId name, StringId unit, double value);

struct Allocation {
    TimeNs time;
    bool release;
    std::int64_t address, bytes;
    std::optional<std::int32_t> device;
    StringId thread;
};
// A release names neither its device nor its size: both are those of the allocation at its address.
void write_allocations(Batch& batch, std::vector<Allocation> all);

}  // namespace gpuprof::importers::amd
