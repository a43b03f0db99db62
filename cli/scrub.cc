// `scrub`: a recording without what is private, as a capture to share. What goes is declared in core/schema/tables.def.
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "core/exporters/exporter.h"
#include "core/importers/several.h"
#include "core/model/scrub.h"

namespace gpuprof {
namespace {

struct Arguments {
    std::vector<std::string> files;
    std::string output;
    ScrubOptions options;
    ReadLimits limits;
};

Result<ExitCode> run(const Arguments& arguments) {
    if (Status free = check_output(arguments.output, arguments.files); !free.ok()) return free.error();
    Progress progress;
    Result<Trace> trace = open_trace(arguments.files, arguments.limits);
    if (!trace.ok()) return trace.error();
    Trace clean = scrubbed(std::move(trace).value(), arguments.options);
    const Exporter* capture = find_exporter("capture");
    Status written = write_output(
        arguments.output, [&](Sink& sink) { return capture->run(clean, sink); }, Readers::owner);
    return written.ok() ? Result<ExitCode>(ExitCode::ok) : written.error();
}

std::function<Result<ExitCode>()> declare(CommandLine& line) {
    auto arguments = std::make_shared<Arguments>();
    line.option("FILE", arguments->files, kRecordingsDoc).required().value("");
    line.option("-o,--output", arguments->output, "The capture to write.").required().value("OUT");
    line.flag("--ranges", arguments->options.ranges,
              "Replace the names of ranges, of operators of your own and of functions, too.");
    line.flag("--kernels", arguments->options.kernels, "Replace the names of kernels, too.");
    declare_read_limits(line, arguments->limits);
    return [arguments] { return run(*arguments); };
}

}  // namespace

extern const Command kScrubCommand;
const Command kScrubCommand{"scrub", "Read a recording", "FILE... -o OUT",
                            "Remove names of files, hosts and users and command lines, to share a recording.", declare};

}  // namespace gpuprof
