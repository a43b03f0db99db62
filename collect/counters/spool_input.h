// What the readers of spool files share: the chunks of a file, fixed records, and the facts about the process.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/format/chunk_reader.h"

namespace gpuprof::counters {

// Calls `take` for each whole chunk; damaged ones are missing.
Status read_chunks(ByteInput& input, const std::function<void(const RawChunk&)>& take);
// Opens a file for `read`.
Status read_chunks_of(const std::string& file, const std::function<Status(ByteInput&)>& read);

// Removes the record from the front; false if there are too few bytes.
template <class Record>
bool take_record(std::string_view& payload, Record& into) {
    if (payload.size() < sizeof into) return false;
    std::memcpy(&into, payload.data(), sizeof into);
    payload.remove_prefix(sizeof into);
    return true;
}

struct ProcessFacts {
    std::string key;         // as in the table of processes
    std::int64_t rank = -1;  // in a distributed job; -1: none
};
// Of the payload of a spool_process.
ProcessFacts facts_of(std::string_view payload);

}  // namespace gpuprof::counters
