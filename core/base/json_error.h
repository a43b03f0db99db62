// simdjson's error codes: a lack of memory is not a fault of the text.
#pragma once

#include <simdjson.h>

#include <new>
#include <string_view>

namespace gpuprof::inline base {

// The same code; MEMALLOC is thrown as any other lack of memory.
inline simdjson::error_code fault_of_text(simdjson::error_code error) {
    if (error == simdjson::MEMALLOC) throw std::bad_alloc();
    return error;
}

// The value of a text: EMPTY without any, and an error if it is of another type. simdjson would copy from a null pointer.
template <class Value>
simdjson::error_code parse_text(simdjson::dom::parser& parser, std::string_view text, Value& value) {
    if (text.empty()) return simdjson::EMPTY;
    return fault_of_text(parser.parse(text.data(), text.size()).get(value));
}

}  // namespace gpuprof::base
