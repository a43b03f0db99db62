// `serve --prometheus [HOST]:PORT`: exports the metrics of this machine's devices to Prometheus, until SIGTERM or
// SIGINT. It listens on the loopback address unless a host is given. It exports only numbers: no process names, no
// files. For TLS and passwords there are reverse proxies (decision 0050).
#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/http/endpoint.h"
#include "cli/live/feed.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/serve/prometheus.h"
#include "core/base/clock.h"

namespace gpuprof::inline cli {
namespace {

struct ServeArguments {
    LiveOptions live;
    std::string prometheus;
};

// Sampling runs, and at least one device responds.
bool healthy(const LiveFeed& feed) {
    return feed.look([](const LiveState& state) {
        TimeNs now = realtime_ns();
        for (const LiveDevice& device : state.devices())
            if (state.alive(device, now)) return true;
        return false;
    });
}

HttpReply page(const LiveFeed& feed, const HttpRequest& request) {
    if (request.method != HttpRequest::get) return method_not_allowed("GET, HEAD");
    std::string_view path = request.path;
    std::string problem = feed.ended() ? "the replayed recording has ended" : feed.problem();
    if (path == "/metrics")
        return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = feed.look([&](const LiveState& state) {
                    return exposition(state, realtime_ns(), program_version(), problem);
                })};
    if (path == "/healthz") {
        if (healthy(feed)) return {.body = "ok\n"};
        return {.status = 503, .body = problem.empty() ? "no device responds\n" : problem + '\n'};
    }
    return {.status = 404, .body = "not found; available: /metrics, /healthz\n"};
}

void announce(const HttpEndpoint& endpoint, const LiveFeed& feed) {
    feed.look([&](const LiveState& state) {
        note(fmt::format("sampling {} GPU{} with {} every {} s; metrics at http://{}/metrics", state.devices().size(),
                         state.devices().size() == 1 ? "" : "s", state.backend(),
                         static_cast<double>(state.interval()) / 1e9, endpoint.at().text()));
        for (const std::string& sentence : state.notes()) note(sentence);
    });
    if (!endpoint.at().loopback())
        note(fmt::format(
            "anyone who can reach {} can read these metrics, with no password and no encryption; to protect "
            "them, listen on 127.0.0.1 behind a reverse proxy",
            endpoint.at().text()));
}

Result<ExitCode> serve(const ServeArguments& arguments) {
    if (arguments.prometheus.empty())
        return Error{ExitCode::usage,
                     "serve needs an address; pass --prometheus [HOST]:PORT, such as --prometheus :9400"};
    if (Status sound = check(arguments.live); !sound) return sound.error();
    Result<HostPort> at = parse_host_port(arguments.prometheus);
    if (!at.ok()) return at.error();
    Result<std::unique_ptr<HttpEndpoint>> endpoint = HttpEndpoint::open(*at);
    if (!endpoint.ok()) return endpoint.error();
    LiveFeed feed(arguments.live);
    if (Status sampling = feed.start(); !sampling) return sampling.error();
    Status served = (*endpoint)->serve([&](const HttpRequest& request) { return page(feed, request); },
                                       [&feed] { feed.restart(monotonic_ns()); }, [&] { announce(**endpoint, feed); });
    feed.stop();
    if (!served) return served.error();
    return ExitCode::ok;
}

std::function<Result<ExitCode>()> declare_serve(CommandLine& line) {
    auto arguments = std::make_shared<ServeArguments>();
    line.option("--prometheus", arguments->prometheus,
                "Serve /metrics at this address (default host: 127.0.0.1); port 0 picks a free one.")
        .value("[HOST]:PORT");
    line.removed("--web-config", "for TLS and passwords, put a reverse proxy in front of serve");
    declare_live_options(line, arguments->live);
    return [arguments] { return serve(*arguments); };
}

}  // namespace

extern const Command kServeCommand;
const Command kServeCommand{"serve", "Monitor GPUs", "--prometheus [HOST]:PORT", "Export GPU metrics to Prometheus.",
                            declare_serve};

}  // namespace gpuprof::cli
