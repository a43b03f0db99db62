// `serve --prometheus [HOST]:PORT`: the metrics of this machine's devices for Prometheus, until SIGTERM or SIGINT. It listens on
// the loopback address unless a host is written out, and gives out numbers only: no names of processes, no files.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/http_endpoint.h"
#include "cli/live_feed.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/prometheus.h"
#include "core/base/clock.h"

namespace gpuprof {
namespace {

struct Arguments {
    WatchWish wish;
    std::string prometheus;
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

void announce(const HttpEndpoint& endpoint, const LiveFeed& feed) {
    feed.look([&](const LiveState& state) {
        note(fmt::format("{} GPU{} sampled by {} every {} s: http://{}/metrics", state.devices().size(),
                         state.devices().size() == 1 ? "" : "s", state.backend(),
                         static_cast<double>(state.interval()) / 1e9, endpoint.at().text()));
        for (const std::string& sentence : state.notes()) note(sentence);
    });
    if (!endpoint.at().loopback())
        note(fmt::format("whoever can reach {} can read these metrics; there is no password and no encryption",
                         endpoint.at().text()));
}

Result<ExitCode> serve(const Arguments& arguments) {
    if (arguments.prometheus.empty())
        return Error{ExitCode::usage, "serve needs --prometheus [HOST]:PORT, such as --prometheus :9400"};
    if (Status sound = check(arguments.wish); !sound) return sound.error();
    Result<HostPort> at = parse_host_port(arguments.prometheus);
    if (!at.ok()) return at.error();
    Result<std::unique_ptr<HttpEndpoint>> endpoint = HttpEndpoint::open(*at);
    if (!endpoint.ok()) return endpoint.error();
    LiveFeed feed(arguments.wish);
    if (Status sampling = feed.start(); !sampling) return sampling.error();
    Status served = (*endpoint)->serve([&feed](const HttpRequest& request) { return page(feed, request); },
                                       [&feed] { feed.revive(monotonic_ns()); }, [&] { announce(**endpoint, feed); });
    feed.stop();
    if (!served) return served.error();
    return ExitCode::ok;
}

std::function<Result<ExitCode>()> declare(CommandLine& line) {
    auto arguments = std::make_shared<Arguments>();
    line.option("--prometheus", arguments->prometheus,
                "Serve /metrics at this address, on 127.0.0.1 unless a host is given; port 0 takes a free one.")
        .value("[HOST]:PORT");
    line.option("--device", arguments->wish.devices, "Devices: a number, a list such as 0,2, a UUID, or all.")
        .value("N|all");
    line.option("--interval", arguments->wish.interval_s, "Seconds between samples.").value("S");
    line.option("--backend", arguments->wish.backend, "Where samples come from: auto, nvml, smi, or replay:FILE.")
        .value("NAME");
    return [arguments] { return serve(*arguments); };
}

}  // namespace

extern const Command kServeCommand;
const Command kServeCommand{"serve", "Is the GPU busy?", "--prometheus [HOST]:PORT",
                            "Metrics of the GPUs for Prometheus.", declare};

}  // namespace gpuprof
