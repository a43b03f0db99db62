// `view`: shows a recording in the browser.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/common_options.h"
#include "cli/ranks/job_of_files.h"
#include "cli/ranks/job_view.h"
#include "cli/view/pair.h"
#include "cli/view/rank_recordings.h"
#include "cli/view/serve_view.h"
#include "cli/view/sql_pages.h"
#include "present/answer/trust.h"

namespace gpuprof::inline cli {
namespace {

struct ViewArguments {
    std::vector<std::string> files;
    std::string base, sources;
    ServeChoice serve;
    ReadLimits limits;
};

// The job of a recording that adds several ranks up: compared with each other, they say more.
std::optional<Trace> job_of(const ViewArguments& arguments, const Trace& added_up) {
    std::optional<Trace> job;
    if (!arguments.base.empty() || ranks_added_up(added_up) < 2 || added_up.tables().rank.rows > 0) return job;
    JobRequest request;
    request.name = added_up.origin().file;
    request.quiet = true;
    Result<ExitCode> ended = read_job(arguments.files, request, {}, arguments.limits, job);
    return ended.ok() && *ended == ExitCode::ok ? std::move(job) : std::nullopt;
}

Result<ViewContent> content(const ViewArguments& arguments, const StageReport& on_stage) {
    on_stage({ViewStage::reading});
    Result<Trace> trace = open_for_page(arguments.files, arguments.limits);
    if (!trace.ok()) return trace.error();
    if (std::optional<Trace> job = job_of(arguments, *trace)) {
        trace = Error{};
        return job_content(std::move(*job), arguments.files, arguments.limits, on_stage);
    }
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
