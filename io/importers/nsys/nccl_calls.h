// Collectives from NCCL's annotations: every call of its API is a range of the domain NCCL whose payload says communicator,
// message size, and peer or root. A call belongs to the NCCL kernel that its thread launched inside the range; inside a
// group, to the one that ncclGroupEnd launched. NCCL does not number its calls, so `seq` stays absent.
// Ranks are numbers in the communicator: what they are in the job is not recorded.
// Schemas: src/include/nvtx_payload_schemas.h of NVIDIA/nccl. Real exports with these schemas were seen, but none with
// payloads; their layout (nvtx_payload.h) is as published by readers of such files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/build/trace_builder.h"
#include "io/importers/nsys/nvtx_payload.h"

namespace gpuprof::inline importers::nsys {

class NcclCalls {
public:
    static constexpr std::string_view kPrefix = "nccl";  // of its functions and kernels

    // A range on a thread with its payload; those of other libraries are ignored. Ranges may come in any order.
    void add(std::string_view name, StringId process, StringId thread, TimeNs start, TimeNs end,
             const NvtxPayloads::Values& payload);
    // After calls and kernels were read.
    void write(Batch& batch);

private:
    struct Call {
        std::string name;  // empty: the end of a group
        StringId process;
        TimeNs start, end;
        std::int64_t communicator = 0, bytes = 0;
        std::optional<std::int64_t> peer, root;
    };
    struct Member {  // this process in a communicator
        std::optional<std::int64_t> ranks, rank;
    };
    using Launches = std::multimap<TimeNs, std::int64_t>;  // correlation ids of NCCL kernels by time of the launch

    std::map<StringId, Launches> launches_of(const Batch& batch) const;
    void write_thread(Batch& batch, std::vector<Call>& calls, const Launches& launches);
    void write_call(Batch& batch, const Call& call, std::optional<std::int64_t> correlation);

    std::map<StringId, std::vector<Call>> calls_;                  // by thread
    std::map<std::pair<StringId, std::int64_t>, Member> members_;  // by process and communicator
};

}  // namespace gpuprof::importers::nsys
