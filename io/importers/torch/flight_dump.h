// A dump of PyTorch's flight recorder as rows of table collective: a ring buffer of the last collectives that one rank
// called, each with its state. All versions from 1.0 on are read by the names of their fields:
//
//   version     fields
//   1.x, 2.0    seq_id, one count for everything; since 2.0 collective_seq_id and p2p_seq_id, is_p2p, op_id
//   2.1 - 2.4   pg_config and pg_status; process_group = (name, description); element types; timeout_ms
//   2.5 -       thread_id, thread_name; comm_lib_version
//
// A send or receive inside a batch (`batch_isend_irecv`) and a collective inside a coalesced one have no events of
// their own: PyTorch records their state as scheduled forever. They get the state of the entry that ends their batch,
// `coalesced` or the like.
//
// Gloo writes dumps of the same form without the ranks of its groups.
// Format: pytorch, torch/csrc/distributed/c10d/FlightRecorder.hpp and FlightRecorderDetail.hpp.
#pragma once

#include <cstdint>
#include <optional>

#include "core/model/build/trace_builder.h"
#include "io/importers/source/json_document.h"
#include "io/importers/source/memory_limit.h"
#include "io/importers/source/pickle.h"

namespace gpuprof::inline importers::torch {

// What a dump says besides its rows.
struct FlightDump {
    bool known = false;           // it is a dump
    bool over_limit = false;      // reading stopped at the memory limit
    std::int64_t world_size = 0;  // of the default group; 0: unknown
    std::uint64_t lost = 0;       // earlier entries that had left the buffer
    std::string version, library;
};

// What bounds the work and the memory for a file.
struct FlightLimits {
    MemoryLimit& memory;
    std::uint64_t other_bytes = 0;  // memory in use apart from the rows
    std::uint64_t file_bytes = 0;   // of the document, decompressed
};

// `process` is the key of the rows.
FlightDump read_flight_dump(const Pickle& pickle, StringId process, Batch& batch, FlightLimits limits);
FlightDump read_flight_dump(const simdjson::dom::element& root, StringId process, Batch& batch, FlightLimits limits);

}  // namespace gpuprof::importers::torch
