// Fuzz target of what triggers and recorders leave for each other: any bytes give a request, a report or a state whose numbers are possible, or
// nothing; what is written again reads back the same. The first byte chooses.
#include <string>

#include "collect/launch/run_folder.h"
#include "tests/fuzz/fuzz_target.h"

namespace gpuprof::fuzz {
namespace {

void check_request(std::string_view bytes) {
    std::optional<control::Request> request = control::parse_request(bytes);
    if (!request) return;
    promise(request->close >= request->open && request->close - request->open <= control::kMaxWindowNs,
            "a window is at most as long as allowed");
    promise(request->number > 0 && request->number <= control::kMaxNumber, "a trigger has a number");
    promise(request->steps >= 0 && request->steps <= control::kMaxSteps, "steps are possible");
    for (std::size_t i = 0; i < request->rank_count; ++i)
        promise(request->ranks[i].first >= 0 && request->ranks[i].first <= request->ranks[i].last, "ranks are ranges");
    char line[control::kMaxBytes];
    std::size_t size = control::write_request(*request, line);
    if (size == 0) return;  // single ranks are written as ranges, which may be too long
    std::optional<control::Request> again = control::parse_request({line, size});
    promise(again && again->id == request->id && again->open == request->open && again->close == request->close &&
                again->rank_count == request->rank_count,
            "a request reads back");
}

void check_report(std::string_view bytes) {
    std::optional<control::Report> report = control::parse_report(bytes);
    if (!report) return;
    char line[control::kMaxBytes];
    std::size_t size = control::write_report(*report, line);
    promise(size > 0, "a report fits");
    std::optional<control::Report> again = control::parse_report({line, size});
    promise(again && again->pid == report->pid && again->rank == report->rank && again->state == report->state &&
                again->refused == report->refused,
            "a report reads back");
}

void check_state(std::string_view bytes) {
    std::optional<launch::LauncherState> state = launch::parse_launcher_state(bytes);
    if (!state) return;
    std::optional<launch::LauncherState> again = launch::parse_launcher_state(launch::encode(*state));
    promise(again && again->pid == state->pid && again->processes.size() == state->processes.size(),
            "a state reads back");
}

}  // namespace

void run_control(std::string_view bytes) {
    if (bytes.empty()) return;
    std::string_view rest = bytes.substr(1);
    switch (static_cast<unsigned char>(bytes[0]) % 3) {
        case 0: return check_request(rest);
        case 1: return check_report(rest);
        default: return check_state(rest);
    }
}

}  // namespace gpuprof::fuzz
