#include "cli/view/serve_view.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include "cli/http/endpoint.h"
#include "cli/output.h"
#include "cli/view/page.h"
#include "cli/view/service.h"
#include "cli/view/sql_session.h"
#include "core/base/clock.h"
#include "core/base/files/path_search.h"
#include "core/base/spawn_actions.h"
#include "core/base/text/json_writer.h"

namespace gpuprof::inline cli {
namespace {

// The server exits after this time without a request: the viewer is then considered closed.
constexpr DurNs kIdleTimeout = DurNs{8} * 3600 * 1'000'000'000;
// How long the address waits for the content: what fails within this time fails before a browser is started.
constexpr std::chrono::milliseconds kHoldAddress{1000};

// Starts `program address` without standard streams; false if the program does not exist.
bool start(const char* name, const std::string& address) {
    SpawnActions actions;
    for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) actions.open(stream, "/dev/null", O_RDWR);
    pid_t child = 0;
    return actions.spawn(child, find_program(name), {name, address}) == 0;
}

// Starts $BROWSER if set, otherwise xdg-open, which needs a display.
bool open_browser(const std::string& address) {
    if (const char* chosen = std::getenv("BROWSER"); chosen != nullptr && *chosen != '\0')
        return start(chosen, address);
    if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return false;
    return start("xdg-open", address);
}

// The printed address works in any browser until the server ends; the browser started here gets one that works once.
void announce(const ServeChoice& choice, const std::string& name, const std::string& at, const ViewService& service) {
    static_cast<void>(print(fmt::format("{}{}\n", at, service.token())));
    bool opened = choice.open_browser && open_browser(at + service.token_for_one());
    note(fmt::format("{}serving {} until Ctrl-C",
                     choice.open_browser && !opened ? "cannot start a browser: open the address above; " : "", name));
}

// Ends the process without waiting for threads that cannot be interrupted: they only read.
[[noreturn]] void leave(ExitCode code) {
    std::fflush(nullptr);
    std::_Exit(static_cast<int>(code));
}

// The server and what it shows, once it is prepared.
class ViewServer {
public:
    ViewServer(HttpEndpoint& endpoint, ViewService& service, Preparation& preparation)
        : endpoint_(endpoint), service_(service), preparation_(preparation) {
        service_.report_progress([this] { return progress(); });
    }

    HttpReply answer(const HttpRequest& request) {
        last_request_ = monotonic_ns();
        take_content();
        return service_.answer(request);
    }

    void every_second() {
        while (waitpid(-1, nullptr, WNOHANG) > 0) {
        }  // the process that started the browser
        take_content();
        if (failure_ && monotonic_ns() - failed_ > kShowFailure) return endpoint_.end();
        if (monotonic_ns() - last_request_ < kIdleTimeout) return;
        note("no request for 8 hours; exiting");
        endpoint_.end();
    }

    // Why there is nothing to show.
    const std::optional<Error>& failure() const { return failure_; }

    void take_content() {
        std::optional<Result<ViewContent>> content = preparation_.take();
        if (!content) return;
        if (content->ok()) return service_.show(std::move(*content).value());
        failure_ = content->error();
        failed_ = monotonic_ns();
    }

private:
    std::string progress() const {
        if (!failure_) return preparation_.progress_json();
        StringSink sink;
        JsonWriter json(sink);
        json.begin_object();
        json.member("stage", "failed");
        json.member("problem", failure_->message);
        json.end_object();
        return sink.text();
    }

    static constexpr DurNs kShowFailure = 3'000'000'000;  // so that an open page can show it

    HttpEndpoint& endpoint_;
    ViewService& service_;
    Preparation& preparation_;
    TimeNs last_request_ = monotonic_ns(), failed_ = 0;
    std::optional<Error> failure_;
};

}  // namespace

Result<ExitCode> serve_view(MakeContent make, const std::string& name, const ServeChoice& choice) {
    Result<std::string_view> viewer = viewer_page();
    if (!viewer.ok()) return viewer.error();
    HttpLimits limits;
    limits.body = kMaxSqlBytes;
    Result<std::unique_ptr<HttpEndpoint>> endpoint = HttpEndpoint::open({"127.0.0.1", choice.port}, limits);
    if (!endpoint.ok()) return endpoint.error();
    Result<ViewService> service = ViewService::make(*viewer, (*endpoint)->at().port);
    if (!service.ok()) return service.error();
    Preparation preparation(std::move(make));
    ViewServer server(**endpoint, *service, preparation);
    if (preparation.wait(kHoldAddress)) server.take_content();
    if (server.failure()) return *server.failure();
    std::string at = fmt::format("http://{}/#", (*endpoint)->at().text());
    Status served = (*endpoint)->serve([&](const HttpRequest& request) { return server.answer(request); },
                                       [&] { server.every_second(); }, [&] { announce(choice, name, at, *service); });
    if (served.ok() && (preparation.running() || service->busy())) leave(ExitCode::ok);
    if (!served) return served.error();
    if (server.failure()) return *server.failure();
    return ExitCode::ok;
}

}  // namespace gpuprof::cli
