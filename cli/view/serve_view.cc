#include "cli/view/serve_view.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "cli/http/endpoint.h"
#include "cli/output.h"
#include "cli/view/content.h"
#include "cli/view/page.h"
#include "cli/view/service.h"
#include "cli/view/sql_session.h"
#include "core/base/caught.h"
#include "core/base/clock.h"
#include "core/base/files/path_search.h"
#include "core/base/files/spill.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/spawn_actions.h"
#include "core/base/text/json_writer.h"
#include "io/importers/source/reading_progress.h"

namespace gpuprof::inline cli {
namespace {

// What a page shows, prepared on a separate thread, so that the server answers from the start: a large recording takes
// many seconds to read and analyse. The owner asks for the result when it wants to; nothing is called back.
class Preparation {
public:
    explicit Preparation(MakeContent make);
    ~Preparation();
    Preparation(const Preparation&) = delete;
    Preparation& operator=(const Preparation&) = delete;

    // Waits until the content is made, but no longer than `limit`; whether it is.
    bool wait(std::chrono::milliseconds limit);
    // The content, or why there is none; absent while it is being made, and after it was taken. Content without its answer comes first if that
    // takes long.
    std::optional<Result<ViewContent>> take();
    bool running() const;
    // {"stage", "share", "known", "timeline", "elapsed_s"}, as the page receives it. `timeline`: whether it can be read.
    std::string progress_json(bool timeline) const;

private:
    struct State;
    std::shared_ptr<State> state_;
    TimeNs started_;
    std::thread thread_;
};

// Whether the answer takes so long that a page shows the timeline without it.
bool is_long(const Trace& trace) {
    constexpr std::size_t kLong = 250'000;
    return trace.kernel().rows + trace.memcpy().rows + trace.op().rows + trace.api_call().rows > kLong;
}

// The calling thread, and those that it starts, take a third of the time that a page takes which is drawing the timeline.
void let_page_go_first() {
    constexpr int kLess = 5;
    errno = 0;
    if (int now = getpriority(PRIO_PROCESS, 0); errno == 0)
        static_cast<void>(setpriority(PRIO_PROCESS, 0, now + kLess));
}

struct Preparation::State {
    std::atomic<ViewStage> stage = ViewStage::reading;
    mutable std::mutex mutex;  // guards what follows
    std::condition_variable made;
    std::optional<Result<ViewContent>> content;
    std::vector<std::string> known;
    bool done = false;
};

Preparation::Preparation(MakeContent make) : state_(std::make_shared<State>()), started_(monotonic_ns()) {
    thread_ = std::thread([state = state_, make = std::move(make)] {
        std::optional<Result<ViewContent>> content;
        Status ran = caught([&] {
            content.emplace(make([&](const ViewProgress& now) {
                state->stage = now.stage;
                const bool early = now.timeline != nullptr && is_long(now.timeline->trace());
                if (now.timeline != nullptr) return_spare_memory();
                if (early) let_page_go_first();
                std::lock_guard lock(state->mutex);
                if (!now.known.empty()) state->known = now.known;
                if (early) state->content.emplace(ViewContent{.pair = {*now.timeline}, .whole = false});
            }));
        });
        if (!ran) content.emplace(ran.error());
        return_spare_memory();  // the server stays for hours
        std::lock_guard lock(state->mutex);
        state->content.emplace(std::move(*content));
        state->done = true;
        state->made.notify_all();
    });
}

Preparation::~Preparation() { thread_.join(); }

bool Preparation::wait(std::chrono::milliseconds limit) {
    std::unique_lock lock(state_->mutex);
    return state_->made.wait_for(lock, limit, [this] { return state_->done; });
}

std::optional<Result<ViewContent>> Preparation::take() {
    std::lock_guard lock(state_->mutex);
    return std::exchange(state_->content, std::nullopt);
}

bool Preparation::running() const {
    std::lock_guard lock(state_->mutex);
    return !state_->done;
}

std::string Preparation::progress_json(bool timeline) const {
    const ReadingProgress& files = reading();
    ViewStage stage = state_->stage;
    std::uint64_t size = files.size, read = files.read;
    StringSink sink;
    JsonWriter json(sink);
    json.begin_object();
    json.member("stage", name_of(stage));
    json.key("share");
    if (stage == ViewStage::reading && files.open > 0 && size > 0)
        json.real(std::min(1.0, static_cast<double>(read) / static_cast<double>(size)));
    else
        json.null();
    json.key("known");
    json.begin_array();
    {
        std::lock_guard lock(state_->mutex);
        for (const std::string& line : state_->known) json.text(line);
    }
    json.end_array();
    json.key("timeline");
    json.boolean(timeline);
    json.key("elapsed_s");
    json.real(static_cast<double>(monotonic_ns() - started_) / 1e9);
    json.end_object();
    return sink.text();
}

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
        if (!failure_) return preparation_.progress_json(service_.shows());
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
    keep_no_spare_memory();
    mallopt(M_MMAP_THRESHOLD, 1 << 20);  // the system gets back at once what a step of preparing needed
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
