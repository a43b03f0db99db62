#include "cli/view/serve_view.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "cli/http/endpoint.h"
#include "cli/output.h"
#include "cli/view/page.h"
#include "cli/view/service.h"
#include "core/base/clock.h"
#include "core/base/path_search.h"

extern char** environ;

namespace gpuprof {
namespace {

// The server exits after this time without a request: the viewer is then considered closed.
constexpr DurNs kIdleTimeout = DurNs{8} * 3600 * 1'000'000'000;

// Starts `program address` without standard streams; false if the program does not exist.
bool start(const char* name, const std::string& address) {
    std::string program = find_program(name);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
    const char* arguments[] = {name, address.c_str(), nullptr};
    pid_t child = 0;
    int failed = posix_spawn(&child, program.c_str(), &actions, nullptr, const_cast<char**>(arguments), environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed == 0;
}

// Starts $BROWSER if set, otherwise xdg-open, which needs a display.
bool open_browser(const std::string& address) {
    if (const char* chosen = std::getenv("BROWSER"); chosen != nullptr && *chosen != '\0')
        return start(chosen, address);
    if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return false;
    return start("xdg-open", address);
}

void announce(const ServeChoice& choice, const std::string& name, const std::string& address) {
    static_cast<void>(print(address + '\n'));
    bool opened = choice.open_browser && open_browser(address);
    note(fmt::format("{}serving {} until Ctrl-C; the address works once",
                     choice.open_browser && !opened ? "cannot start a browser: open the address above; " : "", name));
}

}  // namespace

Result<ExitCode> serve_view(ViewPair pair, RankRecordings& ranks, const std::string& name, const ServeChoice& choice) {
    Result<std::string_view> viewer = viewer_page();
    if (!viewer.ok()) return viewer.error();
    Result<std::unique_ptr<HttpEndpoint>> endpoint = HttpEndpoint::open({"127.0.0.1", choice.port});
    if (!endpoint.ok()) return endpoint.error();
    RankPages pages{[&] { return ranks.openable(); },
                    [&](std::int32_t rank, std::int64_t step) { return ranks.step(rank, step); },
                    [&](std::int32_t rank) { return ranks.open(rank); }};
    Result<ViewService> service = ViewService::make(std::move(pair), *viewer, (*endpoint)->at().port, std::move(pages));
    if (!service.ok()) return service.error();
    std::string address = fmt::format("http://{}/#{}", (*endpoint)->at().text(), service->token());
    TimeNs last_request = monotonic_ns();
    auto page = [&](const HttpRequest& request) {
        last_request = monotonic_ns();
        return service->answer(request);
    };
    auto every_second = [&] {
        while (waitpid(-1, nullptr, WNOHANG) > 0) {
        }  // the process that started the browser
        if (monotonic_ns() - last_request < kIdleTimeout) return;
        note("no request for 8 hours; exiting");
        (*endpoint)->end();
    };
    if (Status served = (*endpoint)->serve(page, every_second, [&] { announce(choice, name, address); }); !served)
        return served.error();
    return ExitCode::ok;
}

}  // namespace gpuprof
