#include "cli/bench/origin.h"

#include <sched.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <string>

#include "cli/program.h"
#include "collect/cpu/proc_files.h"
#include "core/base/host_name.h"

namespace gpuprof {
namespace {

measure::Machine this_machine() {
    measure::Machine machine{.host = host_name(), .processor = {}, .processors = 0};
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable) == 0) machine.processors = CPU_COUNT(&usable);
    std::ifstream processors("/proc/cpuinfo");
    for (std::string line; std::getline(processors, line);)
        if (std::size_t colon = line.find(": "); line.starts_with("model name") && colon != std::string::npos) {
            machine.processor = line.substr(colon + 2);
            break;
        }
    return machine;
}

std::string now_text() {
    std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text;
}

}  // namespace

void describe_run(measure::BenchDocument& document, bool with_command_line) {
    document.version = program_version();
    document.created = now_text();
    if (with_command_line) document.command_line = ProcFiles().command(getpid());
    document.machine = this_machine();
}

}  // namespace gpuprof
