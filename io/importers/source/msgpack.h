// MessagePack as JSON, for formats that are written in both.
#pragma once

#include <string>
#include <string_view>

namespace gpuprof::inline importers {

struct MsgpackText {
    std::string json;
    std::string cut;  // why and where reading stopped before the end of the value; "" if it is complete
};

// The first value of `bytes`, whose containers nest at most `deepest`. Binary and extension values become null, and so do
// NaN and infinities. Of a truncated or damaged value, the part before that place.
MsgpackText json_of_msgpack(std::string_view bytes, std::size_t deepest);

}  // namespace gpuprof::importers
