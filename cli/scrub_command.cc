// `scrub`: removes private content from a recording and writes a capture to share. core/schema/tables.def declares what
// is private.
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/common_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "core/model/privacy/scrub.h"
#include "io/exporters/exporter.h"
#include "io/importers/open_trace.h"

namespace gpuprof::inline cli {
namespace {

struct ScrubArguments {
    std::vector<std::string> files;
    std::string output;
    ScrubOptions options;
    ReadLimits limits;
};

Result<ExitCode> run_scrub(const ScrubArguments& arguments) {
    if (Status free = check_output(arguments.output, arguments.files); !free.ok()) return free.error();
    Progress progress;
    Result<Trace> trace = open_trace(arguments.files, arguments.limits);
    if (!trace.ok()) return trace.error();
    Trace clean = scrubbed(std::move(trace).value(), arguments.options);
    const Exporter* capture = find_exporter("capture");
    Status written = write_output(
        arguments.output, [&](Sink& sink) { return capture->run(clean, sink); }, FileAccess::owner);
    return written.ok() ? Result<ExitCode>(ExitCode::ok) : written.error();
}

std::function<Result<ExitCode>()> declare_scrub(CommandLine& line) {
    auto arguments = std::make_shared<ScrubArguments>();
    line.option("FILE", arguments->files, kRecordingsDoc).required().value("");
    line.option("-o,--output", arguments->output, "Capture to write.").required().value("OUT");
    line.flag("--ranges", arguments->options.ranges,
              "Replace the names of ranges, custom operators and functions as well.");
    line.flag("--kernels", arguments->options.kernels, "Replace the names of kernels as well.");
    declare_read_limits(line, arguments->limits);
    return [arguments] { return run_scrub(*arguments); };
}

}  // namespace

extern const Command kScrubCommand;
const Command kScrubCommand{"scrub", "Analyse recordings", "FILE... -o OUT",
                            "Remove file, host and user names and command lines from a recording, to share it.",
                            declare_scrub};

}  // namespace gpuprof::cli
