#include "cli/record_injection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace gpuprof {
namespace {

constexpr std::string_view kRanges =
    "nvtx:NAME, nvtx:NAME@DOMAIN, cudaProfilerApi, iteration:A-B, iteration:A-B:NAME or start-stop";

std::optional<std::uint64_t> whole_number(std::string_view text) {
    std::uint64_t number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

// "A-B" or "A-B:NAME".
bool take_iterations(std::string_view text, InjectionOptions& options) {
    std::size_t colon = text.find(':');
    std::string_view numbers = text.substr(0, colon);
    std::size_t dash = numbers.find('-');
    if (dash == std::string_view::npos) return false;
    std::optional<std::uint64_t> first = whole_number(numbers.substr(0, dash)),
                                 last = whole_number(numbers.substr(dash + 1));
    if (!first || !last || *first == 0 || *last < *first) return false;
    options.range = CaptureRange::iterations;
    options.first = *first;
    options.last = *last;
    if (colon != std::string_view::npos) options.annotation = text.substr(colon + 1);
    return true;
}

bool take_range(std::string_view text, InjectionOptions& options) {
    if (text.empty()) return true;
    if (text.substr(0, 5) == "nvtx:" && text.size() > 5 && text[5] != '@') {
        options.range = CaptureRange::nvtx;
        options.annotation = text.substr(5);
        return true;
    }
    if (text == "cudaProfilerApi") return options.range = CaptureRange::profiler_api, true;
    if (text == "start-stop") return options.range = CaptureRange::calls, true;
    return text.substr(0, 10) == "iteration:" && take_iterations(text.substr(10), options);
}

DurNs in_ns(double seconds) { return static_cast<DurNs>(seconds * 1e9); }

}  // namespace

bool InjectionArguments::traces(std::string_view what) const {
    return std::find(trace.begin(), trace.end(), what) != trace.end();
}

void declare_injection(CLI::App& app, InjectionArguments& arguments) {
    app.add_option("--trace", arguments.trace, "What to record: cuda, nvtx, cpu, memory; several between commas.")
        ->delimiter(',')
        ->check(CLI::IsMember({"cuda", "nvtx", "cpu", "memory"}))
        ->type_name("WHAT");
    app.add_option("--api", arguments.api,
                   "CUDA calls to record: selected (launches, copies, synchronisation, memory, modules) or all.")
        ->check(CLI::IsMember({"selected", "all"}))
        ->type_name("WHICH");
    app.add_option("--graph", arguments.graph, "CUDA graphs: node (every kernel) or graph (every launch).")
        ->check(CLI::IsMember({"node", "graph"}))
        ->type_name("LEVEL");
    app.add_flag("--all-children", arguments.all_children, "Record shells, compilers and the like too.");
    app.add_flag("--memory", arguments.memory, "Record allocations of device memory.");
    app.add_option(
           "--cupti", arguments.cupti,
           "With another profiler inside the program: share (both record), own (it is refused), yield (we stop).")
        ->check(CLI::IsMember({"share", "own", "yield"}))
        ->type_name("POLICY");
    app.add_option("--delay", arguments.delay, "Seconds to wait in each process before recording begins.")
        ->check(CLI::Range(0.0, 1e6))
        ->type_name("S");
    app.add_option("--duration", arguments.duration, "Seconds to record in each process; 0: to the end.")
        ->check(CLI::Range(0.0, 1e6))
        ->type_name("S");
    app.add_option("--capture-range", arguments.range,
                   "Record only inside: nvtx:NAME[@DOMAIN], cudaProfilerApi, iteration:A-B[:NAME], start-stop.")
        ->type_name("RANGE");
    app.add_option("--keep-last", arguments.keep_last, "Keep at least the last S seconds, not what was before; 0: all.")
        ->check(CLI::Range(0.0, 1e6))
        ->type_name("S");
}

Result<InjectionOptions> injection_options(const InjectionArguments& arguments) {
    InjectionOptions options{.cuda = arguments.traces("cuda"),
                             .nvtx = arguments.traces("nvtx"),
                             .all_api = arguments.api == "all",
                             .graph_level = arguments.graph == "graph",
                             .all_children = arguments.all_children,
                             .memory = arguments.memory || arguments.traces("memory"),
                             .cupti = arguments.cupti,
                             .delay = in_ns(arguments.delay),
                             .duration = in_ns(arguments.duration),
                             .keep_last = in_ns(arguments.keep_last)};
    if (!take_range(arguments.range, options))
        return Error{ExitCode::usage, fmt::format("--capture-range {}: expected {}", arguments.range, kRanges)};
    if (options.memory && !options.cuda) return Error{ExitCode::usage, "--memory needs CUDA: add cuda to --trace"};
    return options;
}

}  // namespace gpuprof
