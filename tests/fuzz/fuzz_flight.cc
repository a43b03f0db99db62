// Fuzz target of the importer of flight recorder dumps, in both of their forms, and of the search for hangs in them: any bytes
// give a trace or an error and nothing else happens, in memory in proportion to them.
#include <cstdlib>

#include "analyze/facts/facts.h"
#include "io/importers/formats.h"
#include "ranks/hangs/hang_text.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/imported.h"

namespace gpuprof::fuzz {

void run_flight(std::string_view bytes) {
    std::optional<Trace> trace = imported(import_flight_recorder, bytes);
    if (!trace) return;
    const CollectiveTable& rows = trace->tables().collective;
    if (rows.rows > bytes.size()) std::abort();
    if (trace->strings().bytes() > (std::size_t{65} << 20) + 66 * bytes.size()) std::abort();
    Facts facts(*trace, {});
    const Hangs& hangs = facts.get<Hangs>();
    if (hangs.rows.size() > rows.rows || hang_sentence(hangs).empty()) std::abort();
    if (!hangs.rows.empty() && !hangs.rows.front().root) std::abort();
}

}  // namespace gpuprof::fuzz
