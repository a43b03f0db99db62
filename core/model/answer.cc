#include "core/model/answer.h"

namespace gpuprof::inline model {

std::string_view name_of(Rating rating) {
    switch (rating) {
        case Rating::high: return "high";
        case Rating::medium: return "medium";
        case Rating::low: return "low";
    }
    return "";
}

std::string_view name_of(Effort effort) {
    switch (effort) {
        case Effort::option: return "option";
        case Effort::edit: return "edit";
        case Effort::rewrite: return "rewrite";
    }
    return "";
}

double weight_of(Effort effort) {
    switch (effort) {
        case Effort::option: return 1;
        case Effort::edit: return 0.6;
        case Effort::rewrite: break;
    }
    return 0.5;
}

std::string_view name_of(Limit limit) {
    switch (limit) {
        case Limit::compute: return "compute-bound";
        case Limit::memory_bandwidth: return "memory-bandwidth-bound";
        case Limit::underfilled: return "underfilled";
        case Limit::input: return "input-bound";
        case Limit::launch: return "launch-bound";
        case Limit::synchronisation: return "synchronisation-bound";
        case Limit::transfer: return "transfer-bound";
        case Limit::communication: return "communication-bound";
        case Limit::allocation: return "allocation-bound";
        case Limit::host: return "host-bound (other)";
        case Limit::paced: return "paced";
        case Limit::no_load: return "no load";
        case Limit::healthy: return "healthy/near limit";
        case Limit::mixed: return "mixed";
        case Limit::unknown: return "cannot tell";
        case Limit::profiler: return "the profiler";
    }
    return "";
}

std::string_view shown_name_of(Limit limit) {
    if (limit == Limit::underfilled) return "too little work at a time";
    return limit == Limit::host ? "host-bound" : name_of(limit);
}

std::string title_of(const Verdict& verdict) {
    return verdict.name == name_of(verdict.limit) ? std::string(shown_name_of(verdict.limit)) : verdict.name;
}

std::string_view spoken_of(Limit limit) {
    switch (limit) {
        case Limit::compute: return "kernels: arithmetic";
        case Limit::memory_bandwidth: return "kernels: memory traffic";
        case Limit::underfilled: return "kernels: too little work";
        case Limit::input: return "fetching input";
        case Limit::launch: return "launching kernels";
        case Limit::synchronisation: return "waiting for the GPU";
        case Limit::transfer: return "copies to or from the GPU";
        case Limit::communication: return "communication";
        case Limit::allocation: return "allocating memory";
        case Limit::host: return "other host code";
        case Limit::paced: return "waiting for the next start";
        case Limit::no_load: return "waiting for requests";
        case Limit::healthy:
        case Limit::mixed:
        case Limit::unknown: return "cause unknown";
        case Limit::profiler: return "the profiler";
    }
    return "";
}

std::string_view name_of(ShareOf whole) { return whole == ShareOf::window ? "the window" : "the critical path"; }

std::string_view name_of(Basis basis) {
    switch (basis) {
        case Basis::counters: return "counters";
        case Basis::shapes: return "operator shapes";
        case Basis::launch: return "launch shapes";
        case Basis::timeline: return "the timeline";
        case Basis::names: return "kernel names";
    }
    return "";
}

}  // namespace gpuprof::model
