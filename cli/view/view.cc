// `view`: shows a recording in the browser.
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/common_options.h"
#include "cli/view/pair.h"
#include "cli/view/rank_recordings.h"
#include "cli/view/serve_view.h"
#include "cli/view/sql_pages.h"

namespace gpuprof::inline cli {
namespace {

struct ViewArguments {
    std::vector<std::string> files;
    std::string base, sources;
    ServeChoice serve;
    ReadLimits limits;
};

Result<ViewContent> content(const ViewArguments& arguments, const StageReport& on_stage) {
    on_stage(ViewStage::reading);
    Result<Trace> trace = open_for_page(arguments.files, arguments.limits);
    if (!trace.ok()) return trace.error();
    RankPages ranks = rank_pages(*trace, arguments.files, arguments.limits);
    Result<ViewPair> pair = view_pair(std::move(trace).value(), {.name = arguments.files.front(),
                                                                 .base = arguments.base,
                                                                 .sources = arguments.sources,
                                                                 .limits = arguments.limits,
                                                                 .detail = StepDetail::all,
                                                                 .on_stage = on_stage});
    if (!pair.ok()) return pair.error();
    return ViewContent{std::move(pair).value(), std::move(ranks), make_sql_pages};
}

Result<ExitCode> view(const ViewArguments& arguments) {
    return serve_view([&](const StageReport& on_stage) { return content(arguments, on_stage); },
                      arguments.files.front(), arguments.serve);
}

std::function<Result<ExitCode>()> declare_view(CommandLine& line) {
    auto arguments = std::make_shared<ViewArguments>();
    line.option("FILE", arguments->files, kRecordingsDoc).required().value("");
    line.option("--base", arguments->base, kBaseDoc).value("FILE");
    line.option("--sources", arguments->sources, kSourcesDoc).value("DIR");
    line.option("--port", arguments->serve.port, kPortDoc).integer_range(0, 65535).value("N");
    line.flag("!--no-open", arguments->serve.open_browser, kNoOpenDoc);
    declare_read_limits(line, arguments->limits);
    return [arguments] { return view(*arguments); };
}

}  // namespace

extern const Command kViewCommand;
const Command kViewCommand{"view", "Analyse recordings", "FILE...",
                           "Show a recording in the browser: timeline, findings, tables.", declare_view};

}  // namespace gpuprof::cli
