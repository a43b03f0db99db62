// `counters`: measures hardware counters of single kernels.
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/counters/list.h"

namespace gpuprof {
namespace {

struct Arguments {
    std::string set, chip;
    bool list_sets = false, list_metrics = false;
    std::vector<std::string> command;
};

Result<ExitCode> counters(const Arguments& arguments) {
    if (arguments.list_sets) return list_counter_sets();
    if (arguments.list_metrics) return list_counter_metrics(arguments.chip);
    return plan_for_chip(arguments.chip, arguments.set);
}

std::function<Result<ExitCode>()> declare(CommandLine& line) {
    auto arguments = std::make_shared<Arguments>();
    line.option("--set", arguments->set, "Set or metrics to measure.").value("SET");
    line.flag("--list-sets", arguments->list_sets, "List the sets.");
    line.flag("--list-metrics", arguments->list_metrics, "List the metrics of the GPU, or of --plan-for.");
    line.option("--plan-for", arguments->chip, "Show what each set costs on this chip, such as GH100.").value("CHIP");
    line.option("command", arguments->command, "Command to run and its arguments, after --.").value("CMD");
    return [arguments] { return counters(*arguments); };
}

}  // namespace

extern const Command kCountersCommand;
const Command kCountersCommand{"counters",
                               "Record a program",
                               "[OPTIONS] -- CMD...",
                               "Measure hardware counters of kernels.",
                               declare,
                               [] { return std::vector<Choices>(); },
                               "command"};

}  // namespace gpuprof
