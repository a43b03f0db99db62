#include "analyze/knowledge/causes.h"

namespace gpuprof::inline knowledge {

std::string_view name_of(Bound bound) {
    switch (bound) {
        case Bound::compute: return "compute";
        case Bound::memory: return "memory";
        case Bound::underfilled: return "underfilled";
        case Bound::communication: return "communication";
        case Bound::migration: return "migration";
        case Bound::unknown: return "unknown";
    }
    return "";
}

std::string_view name_of(IdleCause cause) {
    switch (cause) {
        case IdleCause::input_pipeline: return "input pipeline";
        case IdleCause::host_compute: return "host compute";
        case IdleCause::launch: return "launch";
        case IdleCause::synchronisation: return "synchronisation";
        case IdleCause::host_memcpy: return "host memcpy";
        case IdleCause::allocation: return "allocation";
        case IdleCause::compilation: return "compilation/module load";
        case IdleCause::communication_wait: return "communication wait";
        case IdleCause::profiler: return "profiler";
        case IdleCause::nothing_submitted: return "nothing submitted";
        case IdleCause::unrecorded_work: return "unrecorded work";
        case IdleCause::waiting: return "waiting for work";
        case IdleCause::graph: return "graph";
        case IdleCause::unknown: return "unknown";
    }
    return "";
}

}  // namespace gpuprof::knowledge
