// Typed payloads of NVTX events: a schema gives each field a name, a type and an offset, and the event has the bytes.
//
//   NVTX_PAYLOAD_SCHEMA_ENTRIES   (domainId, schemaId, type, name, offset), one row per field
//   NVTX_EVENTS.binaryData        u32 domain  u32 -  u32 schema  u32 -  u64 size  u64 size with header  then the payload
//
// Little-endian. Only integers are read. Types: NVTX_PAYLOAD_ENTRY_TYPE_* of nvToolsExtPayload.h in NVIDIA/NVTX.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace gpuprof::inline importers::nsys {

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

}  // namespace gpuprof::importers::nsys
