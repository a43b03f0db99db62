// Fuzz target of the importers of Proton's trees and scopes of warps: any bytes give a trace or an error and nothing else happens; parents come before
// their children, and every metric belongs to a node.
#include <simdjson.h>

#include <cstdint>
#include <string>

#include "io/importers/formats.h"
#include "io/importers/source/msgpack.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/imported.h"

namespace gpuprof::fuzz {

void run_proton(std::string_view bytes) {
    // Whatever the bytes are, the text is a document.
    simdjson::dom::parser parser;
    std::string json = json_of_msgpack(bytes, 256).json;
    promise(json.empty() || json == "\n" || parser.parse(json).error() == simdjson::SUCCESS, "JSON of MessagePack");
    for (auto* import : {import_proton, import_proton_scopes})
        if (std::optional<Trace> trace = imported(import, bytes)) check_call_tree(trace->tables());
}

}  // namespace gpuprof::fuzz
