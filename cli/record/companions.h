// The companions of a recorded command that this program provides (collect/launch/companion.h).
#pragma once

#include <memory>
#include <string>

#include "cli/record/sample_option.h"
#include "collect/launch/companion.h"

namespace gpuprof::inline cli {

// Samples of all visible devices every `interval` seconds.
std::unique_ptr<Companion> record_devices(double interval);
// CPU use and identity of the processes that record into `folder`; `commands`: with their command lines.
std::unique_ptr<Companion> record_cpu_use(const std::string& folder, bool commands);
// When threads of the command ran on which CPU. Prepared last: it must be open in the thread that starts the command, and
// nothing else may be started after it.
std::unique_ptr<Companion> record_scheduling();
// Hardware counters of all visible devices; `program` is the command that is recorded.
std::unique_ptr<Companion> record_counters(const SampleOption& option, const std::string& program);
// Python stacks of these processes, `hz` times a second.
std::unique_ptr<Companion> record_python(const std::string& folder, double hz);

}  // namespace gpuprof::cli
