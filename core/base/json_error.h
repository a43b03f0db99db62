// simdjson's error codes: a lack of memory is not a fault of the text.
#pragma once

#include <simdjson.h>

#include <new>

namespace gpuprof::inline base {

// The same code; MEMALLOC is thrown as any other lack of memory.
inline simdjson::error_code fault_of_text(simdjson::error_code error) {
    if (error == simdjson::MEMALLOC) throw std::bad_alloc();
    return error;
}

}  // namespace gpuprof::base
