// `serve --prometheus [HOST]:PORT`: the metrics of this machine's devices for Prometheus, until SIGTERM or SIGINT. It listens on
// the loopback address unless a host is written out, and gives out numbers only: no names of processes, no files. --web-config asks for TLS and passwords.
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

namespace gpuprof {
namespace {

struct Arguments {
    WatchWish wish;
    std::string prometheus, web_config;
};

// Sampling goes on, and at least one device answers.
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
    std::string trouble = feed.ended() ? "the recording has been played to its end" : feed.trouble();
    if (path == "/metrics")
        return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = feed.look([&](const LiveState& state) {
                    return exposition(state, realtime_ns(), program_version(), trouble);
                })};
    if (path == "/healthz") {
        if (healthy(feed)) return {.body = "ok\n"};
        return {.status = 503, .body = trouble.empty() ? "no device answers\n" : trouble + '\n'};
    }
    return {.status = 404, .body = "there is /metrics and /healthz\n"};
}

HttpReply guarded_page(const LiveFeed& feed, BasicAuth& users, const HttpRequest& request) {
    if (users.allows(request.header("Authorization"))) return page(feed, request);
    return {.status = 401,
            .body = "a user and a password are needed\n",
            .headers = {{"WWW-Authenticate", "Basic realm=\"gpu-profile\", charset=\"UTF-8\""}}};
}

// What protects the pages from whoever reaches the address.
std::string_view lacking(const WebConfig& web) {
    if (web.tls) return web.users.empty() && web.tls->client_ca_file.empty() ? "there is no password" : "";
    return web.users.empty() ? "there is no password and no encryption" : "passwords are sent without encryption";
}

void announce(const HttpEndpoint& endpoint, const LiveFeed& feed, const WebConfig& web) {
    feed.look([&](const LiveState& state) {
        note(fmt::format("{} GPU{} sampled by {} every {} s: {}://{}/metrics", state.devices().size(),
                         state.devices().size() == 1 ? "" : "s", state.backend(),
                         static_cast<double>(state.interval()) / 1e9, web.tls ? "https" : "http",
                         endpoint.at().text()));
        for (const std::string& sentence : state.notes()) note(sentence);
    });
    if (std::string_view what = lacking(web); !endpoint.at().loopback() && !what.empty())
        note(fmt::format("whoever can reach {} can read these metrics; {}", endpoint.at().text(), what));
}

Result<ExitCode> serve(const Arguments& arguments) {
    if (arguments.prometheus.empty())
        return Error{ExitCode::usage, "serve needs --prometheus [HOST]:PORT, such as --prometheus :9400"};
    if (Status sound = check(arguments.wish); !sound) return sound.error();
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
    LiveFeed feed(arguments.wish);
    if (Status sampling = feed.start(); !sampling) return sampling.error();
    Status served =
        (*endpoint)->serve([&](const HttpRequest& request) { return guarded_page(feed, users, request); },
                           [&feed] { feed.revive(monotonic_ns()); }, [&] { announce(**endpoint, feed, *web); });
    feed.stop();
    if (!served) return served.error();
    return ExitCode::ok;
}

std::function<Result<ExitCode>()> declare(CommandLine& line) {
    auto arguments = std::make_shared<Arguments>();
    line.option("--prometheus", arguments->prometheus,
                "Serve /metrics at this address, on 127.0.0.1 unless a host is given; port 0 takes a free one.")
        .value("[HOST]:PORT");
    line.option("--web-config", arguments->web_config,
                "TLS and basic authentication by this file, as Prometheus exporters read it.")
        .value("FILE");
    declare_wish(line, arguments->wish);
    return [arguments] { return serve(*arguments); };
}

}  // namespace

extern const Command kServeCommand;
const Command kServeCommand{"serve", "Is the GPU busy?", "--prometheus [HOST]:PORT",
                            "Metrics of the GPUs for Prometheus.", declare};

}  // namespace gpuprof
