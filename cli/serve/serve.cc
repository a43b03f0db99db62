// `serve --prometheus [HOST]:PORT`: exports the metrics of this machine's devices to Prometheus, until SIGTERM or
// SIGINT. It listens on the loopback address unless a host is given. It exports only numbers: no process names, no
// files. --web-config adds TLS and passwords.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/http/endpoint.h"
#include "cli/live/feed.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/serve/basic_auth.h"
#include "cli/serve/prometheus.h"
#include "cli/serve/tls_streams.h"
#include "cli/serve/web_config.h"
#include "core/base/clock.h"

namespace gpuprof::inline cli {
namespace {

struct ServeArguments {
    LiveOptions live;
    std::string prometheus, web_config;
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

HttpReply guarded_page(const LiveFeed& feed, BasicAuth& users, const HttpRequest& request) {
    if (users.allows(request.header("Authorization"))) return page(feed, request);
    return {.status = 401,
            .body = "authentication required\n",
            .headers = {{"WWW-Authenticate", "Basic realm=\"gpu-profile\", charset=\"UTF-8\""}}};
}

// A warning about missing protection of the pages; "" if none.
std::string_view lacking(const WebConfig& web) {
    if (web.tls) return web.users.empty() && web.tls->client_ca_file.empty() ? "no password is required" : "";
    return web.users.empty() ? "no password is required and traffic is not encrypted"
                             : "passwords are sent without encryption";
}

void announce(const HttpEndpoint& endpoint, const LiveFeed& feed, const WebConfig& web) {
    feed.look([&](const LiveState& state) {
        note(fmt::format("sampling {} GPU{} with {} every {} s; metrics at {}://{}/metrics", state.devices().size(),
                         state.devices().size() == 1 ? "" : "s", state.backend(),
                         static_cast<double>(state.interval()) / 1e9, web.tls ? "https" : "http",
                         endpoint.at().text()));
        for (const std::string& sentence : state.notes()) note(sentence);
    });
    if (std::string_view what = lacking(web); !endpoint.at().loopback() && !what.empty())
        note(fmt::format("anyone who can reach {} can read these metrics: {}; protect them with --web-config",
                         endpoint.at().text(), what));
}

Result<ExitCode> serve(const ServeArguments& arguments) {
    if (arguments.prometheus.empty())
        return Error{ExitCode::usage,
                     "serve needs an address; pass --prometheus [HOST]:PORT, such as --prometheus :9400"};
    if (Status sound = check(arguments.live); !sound) return sound.error();
    Result<HostPort> at = parse_host_port(arguments.prometheus);
    if (!at.ok()) return at.error();
    Result<WebConfig> web = WebConfig{};
    if (!arguments.web_config.empty()) web = read_web_config(arguments.web_config);
    if (!web.ok()) return web.error();
    Result<MakeStream> streams = web->tls ? tls_streams(*web->tls) : MakeStream(plain_stream);
    if (!streams.ok()) return streams.error();
    BasicAuth users(web->users);
    Result<std::unique_ptr<HttpEndpoint>> endpoint = HttpEndpoint::open(*at, {}, *streams);
    if (!endpoint.ok()) return endpoint.error();
    LiveFeed feed(arguments.live);
    if (Status sampling = feed.start(); !sampling) return sampling.error();
    Status served =
        (*endpoint)->serve([&](const HttpRequest& request) { return guarded_page(feed, users, request); },
                           [&feed] { feed.restart(monotonic_ns()); }, [&] { announce(**endpoint, feed, *web); });
    feed.stop();
    if (!served) return served.error();
    return ExitCode::ok;
}

std::function<Result<ExitCode>()> declare_serve(CommandLine& line) {
    auto arguments = std::make_shared<ServeArguments>();
    line.option("--prometheus", arguments->prometheus,
                "Serve /metrics at this address (default host: 127.0.0.1); port 0 picks a free one.")
        .value("[HOST]:PORT");
    line.option("--web-config", arguments->web_config,
                "Web configuration file of Prometheus exporters: TLS and basic authentication.")
        .value("FILE");
    declare_live_options(line, arguments->live);
    return [arguments] { return serve(*arguments); };
}

}  // namespace

extern const Command kServeCommand;
const Command kServeCommand{"serve", "Monitor GPUs", "--prometheus [HOST]:PORT", "Export GPU metrics to Prometheus.",
                            declare_serve};

}  // namespace gpuprof::cli
