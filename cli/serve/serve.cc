// `serve --prometheus [HOST]:PORT`: exports the metrics of this machine's devices to Prometheus, until SIGTERM or
// SIGINT. It listens on the loopback address unless a host is given. Of devices it exports only numbers: no process names, no
// files; of jobs (--jobs) also the names of kernels, hosts and jobs. For TLS and passwords there are reverse proxies (decision 0050).
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/http/endpoint.h"
#include "cli/live/feed.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/serve/containers.h"
#include "cli/serve/jobs.h"
#include "cli/serve/kubelet.h"
#include "cli/serve/prometheus.h"
#include "core/base/clock.h"
#include "core/base/host_name.h"

namespace gpuprof::inline cli {
namespace {

struct ServeArguments {
    LiveOptions live;
    std::string prometheus;
    std::string jobs;  // a folder of snapshots; "": none
    bool pods = false, dcgm_names = false;
    std::string host_root;
    std::string kubelet;  // a socket; "": not asked
};

struct Served {
    LiveFeed feed;
    std::optional<JobPages> jobs = {};
    std::optional<Containers> containers = {};
    std::optional<Kubelet> kubelet = {};
    bool sampling = true;  // false: only jobs are served
    DurNs interval = 0;
    std::optional<std::string> dcgm_host = {};  // its name, if DCGM's names are served
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

// /debug/pprof/gpu?seconds=N
HttpReply profile(const JobPages& jobs, std::string_view query) {
    constexpr std::string_view kSeconds = "seconds=";
    std::int64_t seconds = 0;
    if (!query.empty()) {
        std::string_view digits = query.starts_with(kSeconds) ? query.substr(kSeconds.size()) : std::string_view();
        auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
        constexpr std::int64_t kMost = JobPages::kMostProfile / 1'000'000'000;
        if (error != std::errc() || end != digits.data() + digits.size() || seconds < 1 || seconds > kMost)
            return rejected(400, fmt::format("expected seconds=N, 1 to {}", kMost));
    }
    Result<std::string> made = jobs.profile(seconds * 1'000'000'000, realtime_ns());
    if (!made.ok()) return rejected(500, made.error().message);
    return {.type = "application/octet-stream", .body = std::move(*made)};
}

std::string metrics(Served& served, std::string_view problem) {
    TimeNs now = realtime_ns();
    std::string text;
    std::vector<DeviceProcesses> processes;
    std::vector<SampledDevice> devices;
    if (served.sampling)
        served.feed.look([&](const LiveState& state) {
            text = exposition(state, now, program_version(), problem);
            if (served.dcgm_host) text += dcgm_exposition(state, now, *served.dcgm_host);
            if (served.containers) processes = newest_processes(state, now);
            for (const LiveDevice& device : state.devices()) devices.push_back(device.known);
        });
    if (served.containers)
        text += served.containers->exposition(processes, served.interval,
                                              served.jobs ? served.jobs->places() : std::vector<Place>());
    if (served.kubelet) text += served.kubelet->exposition(devices);
    if (served.jobs) text += served.jobs->exposition(now, served.containers ? &served.containers->names() : nullptr);
    return text;
}

HttpReply page(Served& served, const HttpRequest& request) {
    if (request.method != HttpRequest::get) return method_not_allowed("GET, HEAD");
    const LiveFeed& feed = served.feed;
    std::string_view path = request.path;
    std::string problem = feed.ended() ? "the replayed recording has ended" : feed.problem();
    if (path == "/metrics") {
        HttpReply reply{.type = "text/plain; version=0.0.4; charset=utf-8", .body = metrics(served, problem)};
        std::optional<std::string_view> accepted = request.header("Accept");
        if (accepted && accepted->find("application/openmetrics-text") != accepted->npos) {
            reply.type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            reply.body = open_metrics(reply.body);
        }
        return reply;
    }
    if (path == "/debug/pprof/gpu" && served.jobs) return profile(*served.jobs, request.query);
    if (path == "/healthz" || path == "/health") {
        if (served.jobs && !served.jobs->problem().empty()) return rejected(503, served.jobs->problem());
        if (healthy(feed) || !served.sampling) return {.body = "ok\n"};
        return {.status = 503, .body = problem.empty() ? "no device responds\n" : problem + '\n'};
    }
    return {
        .status = 404,
        .body = fmt::format("not found; available: /metrics, /healthz{}\n", served.jobs ? ", /debug/pprof/gpu" : "")};
}

void announce(const HttpEndpoint& endpoint, const Served& served) {
    if (served.jobs)
        note(fmt::format("totals of jobs at http://{0}/metrics, profiles at http://{0}/debug/pprof/gpu",
                         endpoint.at().text()));
    if (served.sampling)
        served.feed.look([&](const LiveState& state) {
            note(fmt::format("sampling {} GPU{} with {} every {} s; metrics at http://{}/metrics",
                             state.devices().size(), state.devices().size() == 1 ? "" : "s", state.backend(),
                             static_cast<double>(state.interval()) / 1e9, endpoint.at().text()));
            for (const std::string& sentence : state.notes()) note(sentence);
        });
    if (served.containers && served.sampling)
        if (std::string problem = served.containers->problem(); !problem.empty())
            note("processes cannot be attributed to containers: " + problem);
    if (served.kubelet && !served.kubelet->problem().empty())
        note(fmt::format("devices cannot be attributed to pods: {}; serve asks again every 10 s",
                         served.kubelet->problem()));
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
    if (!arguments.host_root.empty() && !arguments.pods) return Error{ExitCode::usage, "--host-root needs --pods"};
    if (Status sound = check(arguments.live); !sound) return sound.error();
    Result<HostPort> at = parse_host_port(arguments.prometheus);
    if (!at.ok()) return at.error();
    Result<std::unique_ptr<HttpEndpoint>> endpoint = HttpEndpoint::open(*at);
    if (!endpoint.ok()) return endpoint.error();
    Served served{.feed = LiveFeed(arguments.live)};
    served.interval = static_cast<DurNs>(arguments.live.interval_s * 1e9);
    const char* node = getenv("NODE_NAME");  // as dcgm-exporter: a pod has another host name
    if (arguments.dcgm_names) served.dcgm_host = node == nullptr ? host_name() : node;
    if (arguments.pods) served.containers.emplace(arguments.host_root);
    if (!arguments.kubelet.empty()) served.kubelet.emplace(arguments.kubelet);
    Status sampling = served.feed.start();
    if (!arguments.jobs.empty()) {
        served.jobs.emplace(arguments.jobs);
        served.jobs->look(realtime_ns());
        if (!served.jobs->problem().empty()) return Error{ExitCode::unreadable, served.jobs->problem()};
        if (!sampling) note(sampling.error().message + "; only totals of jobs are served");
        served.sampling = static_cast<bool>(sampling);
    } else if (!sampling) {
        return sampling.error();
    }
    if (served.kubelet) served.kubelet->look(monotonic_ns());
    Status ended = (*endpoint)->serve([&](const HttpRequest& request) { return page(served, request); },
                                      [&served] {
                                          if (served.sampling) served.feed.restart(monotonic_ns());
                                          if (served.jobs) served.jobs->look(realtime_ns());
                                          if (served.kubelet) served.kubelet->look(monotonic_ns());
                                      },
                                      [&] { announce(**endpoint, served); });
    served.feed.stop();
    if (!ended) return ended.error();
    return ExitCode::ok;
}

std::function<Result<ExitCode>()> declare_serve(CommandLine& line) {
    auto arguments = std::make_shared<ServeArguments>();
    line.option("--prometheus", arguments->prometheus,
                "Serve /metrics at this address (default host: 127.0.0.1); port 0 picks a free one.")
        .value("[HOST]:PORT");
    line.option("--jobs", arguments->jobs,
                "Also serve the totals that record --aggregate writes into this folder, and pprof profiles of them.")
        .value("DIR");
    line.flag("--dcgm-names", arguments->dcgm_names,
              "Also serve the metrics under the names, units and labels of NVIDIA's dcgm-exporter.");
    line.flag(
        "--pods", arguments->pods,
        "Also serve memory and utilization of the processes of each container and pod, and name the pods of jobs.");
    line.option("--host-root", arguments->host_root,
                "Folder with the host's /proc and /var/log/pods for --pods (default: /).")
        .value("DIR");
    line.option("--kubelet", arguments->kubelet,
                "Also serve which pods have which devices, idle ones too, as kubelet says at its pod-resources socket.")
        .value("SOCKET");
    line.removed("--web-config", "for TLS and passwords, put a reverse proxy in front of serve");
    declare_live_options(line, arguments->live);
    return [arguments] { return serve(*arguments); };
}

}  // namespace

extern const Command kServeCommand;
const Command kServeCommand{"serve", "Monitor GPUs", "--prometheus [HOST]:PORT", "Export GPU metrics to Prometheus.",
                            declare_serve};

}  // namespace gpuprof::cli
