// Collectives from NCCL's annotations: every call of its API is a range of the domain NCCL whose payload says communicator,
// message size, and peer or root. A call belongs to the NCCL kernel that its thread launched inside the range; inside a
// group, to the one that ncclGroupEnd launched. NCCL does not number its calls, so `seq` stays absent.
// Ranks are numbers in the communicator: what they are in the job is not recorded.
// Schemas: src/include/nvtx_payload_schemas.h of NVIDIA/nccl. Real exports with these schemas were seen, but none with
// payloads; their layout (NvtxPayloads) is as published by readers of such files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/build/trace_builder.h"

namespace gpuprof::inline importers::nsys {

// Typed payloads of NVTX events: a schema gives each field a name, a type and an offset, and the event has the bytes.
//
//   NVTX_PAYLOAD_SCHEMA_ENTRIES   (domainId, schemaId, type, name, offset), one row per field
//   NVTX_EVENTS.binaryData        u32 domain  u32 -  u32 schema  u32 -  u64 size  u64 size with header  then the payload
//
// Little-endian. Only integers are read. Types: NVTX_PAYLOAD_ENTRY_TYPE_* of nvToolsExtPayload.h in NVIDIA/NVTX.
class NvtxPayloads {
public:
    // A field of a schema; the first one is at offset 0, which files leave out. Types that are not integers are skipped.
    void add_field(std::int64_t domain, std::int64_t schema, std::int64_t type, std::int64_t offset,
                   std::string_view name);

    // The integers of one event by the names of their fields; empty if the bytes are damaged or of an unknown schema.
    // Unsigned values above 2^63 keep their bits.
    using Values = std::map<std::string_view, std::int64_t>;
    Values decode(std::int64_t domain, std::string_view bytes) const;

private:
    struct Field {
        std::uint64_t offset;
        std::size_t size;
        bool is_signed;
        bool operator==(const Field&) const = default;
    };
    struct Schema {
        std::map<std::string, std::optional<Field>, std::less<>> fields;  // nothing if two definitions disagree
    };
    std::map<std::pair<std::int64_t, std::int64_t>, Schema> schemas_;  // by domain and number
};

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
