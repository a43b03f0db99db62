#include "cli/http/endpoint.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <event2/util.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "core/base/clock.h"

namespace gpuprof::inline cli {

HttpConnections::~HttpConnections() {
    for (Connection& connection : open_) bufferevent_decref(connection.stream);
}

bool HttpConnections::freed(const Connection& connection) {
    bufferevent_event_cb on_event = nullptr;
    bufferevent_getcb(connection.stream, nullptr, nullptr, &on_event, nullptr);
    return on_event == nullptr;
}

// Reading detects the end and writing an error; then evhttp frees the connection.
void HttpConnections::cut(Connection& connection) {
    evutil_socket_t socket = bufferevent_getfd(connection.stream);
    if (socket >= 0) shutdown(socket, SHUT_RDWR);
    connection.deadline = INT64_MAX;
}

bufferevent* HttpConnections::open(event_base* base) {
    if (open_.size() >= limits_.connections) sweep();  // closed connections do not count
    if (open_.size() >= limits_.connections) {
        auto waiting = std::find_if(open_.begin(), open_.end(), [](const Connection& connection) {
            return !connection.replying && connection.deadline != INT64_MAX;
        });
        if (waiting != open_.end()) cut(*waiting);
    }
    bufferevent* stream = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
    if (stream == nullptr) return nullptr;
    bufferevent_incref(stream);
    open_.push_back({stream, monotonic_ns() + limits_.request});
    return stream;
}

void HttpConnections::replying(const bufferevent* stream, std::size_t bytes) {
    for (Connection& connection : open_) {
        if (connection.stream != stream || connection.deadline == INT64_MAX) continue;
        connection.replying = true;
        connection.deadline = monotonic_ns() + limits_.reply +
                              static_cast<DurNs>(static_cast<double>(bytes) / limits_.slowest_bytes_per_s * 1e9);
    }
}

void HttpConnections::sweep() {
    TimeNs now = monotonic_ns();
    // A page that took long to generate delayed everyone; that time is not charged to the clients.
    DurNs held_up = swept_ == 0 ? 0 : now - swept_ - kSweepInterval;
    swept_ = now;
    if (held_up < kSweepInterval) held_up = 0;
    for (auto each = open_.begin(); each != open_.end();) {
        if (freed(*each)) {
            bufferevent_decref(each->stream);
            each = open_.erase(each);
            continue;
        }
        if (each->deadline != INT64_MAX) each->deadline += held_up;
        if (each->deadline <= now) cut(*each);
        ++each;
    }
}

namespace {

constexpr ev_ssize_t kMaxHeadBytes = 8 * 1024;
constexpr int kTimeoutSeconds = 5;
constexpr rlim_t kMaxDescriptors = 200;
constexpr ev_uint16_t kAllMethods = EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_HEAD | EVHTTP_REQ_PUT |
                                    EVHTTP_REQ_DELETE | EVHTTP_REQ_OPTIONS | EVHTTP_REQ_TRACE | EVHTTP_REQ_CONNECT |
                                    EVHTTP_REQ_PATCH;

template <auto kFree>
struct Deleter {
    template <class T>
    void operator()(T* object) const {
        kFree(object);
    }
};
using Base = std::unique_ptr<event_base, Deleter<event_base_free>>;
using Http = std::unique_ptr<evhttp, Deleter<evhttp_free>>;
using Event = std::unique_ptr<event, Deleter<event_free>>;

// Without free descriptors accept() fails again at once, so the listener pauses while connections end. Not for long: the
// queue of the system would fill, and a client that finds it full waits for seconds.
void pause_accepting(evconnlistener* listener, void*) {
    evconnlistener_disable(listener);
    timeval pause{0, 10'000};
    event_base_once(
        evconnlistener_get_base(listener), -1, EV_TIMEOUT,
        [](evutil_socket_t, short, void* paused) { evconnlistener_enable(static_cast<evconnlistener*>(paused)); },
        listener, &pause);
}

void limit_connections() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = std::min(limit.rlim_cur, kMaxDescriptors);
    setrlimit(RLIMIT_NOFILE, &limit);
}

// Signals outside the event loop. One that arrives before the loop ends it at once. One that arrives after it changes
// nothing, because `timeout` sends each signal twice. The next one kills.
volatile sig_atomic_t asked_to_end = 0;

void take_signals() {
    struct sigaction action {};
    action.sa_handler = [](int) { asked_to_end = 1; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    for (int number : {SIGTERM, SIGINT}) sigaction(number, &action, nullptr);
}

std::uint16_t port_of(int socket) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
    if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<sockaddr_in6*>(&address)->sin6_port);
    return ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

}  // namespace

struct HttpEndpoint::State {
    explicit State(const HttpLimits& limits) : connections(limits) {}

    HostPort at;
    Base base;
    HttpConnections connections;  // outlives evhttp's references
    Http http;
    std::function<HttpReply(const HttpRequest&)> page;
    std::function<void()> every_second;

    void answer(evhttp_request* request) {
        evhttp_cmd_type method = evhttp_request_get_command(request);
        HttpReply reply;
        if (method != EVHTTP_REQ_GET && method != EVHTTP_REQ_HEAD && method != EVHTTP_REQ_POST) {
            reply = method_not_allowed("GET, HEAD");
        } else {
            const evhttp_uri* uri = evhttp_request_get_evhttp_uri(request);
            const char* path = uri == nullptr ? nullptr : evhttp_uri_get_path(uri);
            const char* query = uri == nullptr ? nullptr : evhttp_uri_get_query(uri);
            reply = page({.method = method == EVHTTP_REQ_POST ? HttpRequest::post : HttpRequest::get,
                          .path = path == nullptr ? "" : path,
                          .header = [request](const char* name) { return header(request, name); },
                          .body = body_of(request),
                          .query = query == nullptr ? "" : query});
        }
        if (evhttp_connection* connection = evhttp_request_get_connection(request))
            connections.replying(evhttp_connection_get_bufferevent(connection), reply.body.size());
        send(request, reply, method == EVHTTP_REQ_HEAD);
    }

    static std::string_view body_of(evhttp_request* request) {
        evbuffer* buffer = evhttp_request_get_input_buffer(request);
        std::size_t length = buffer == nullptr ? 0 : evbuffer_get_length(buffer);
        const unsigned char* bytes = length == 0 ? nullptr : evbuffer_pullup(buffer, -1);
        return bytes == nullptr ? "" : std::string_view(reinterpret_cast<const char*>(bytes), length);
    }

    static std::optional<std::string_view> header(evhttp_request* request, const char* name) {
        std::optional<std::string_view> value = "";
        int found = 0;
        evkeyval* each = nullptr;
        TAILQ_FOREACH(each, evhttp_request_get_input_headers(request), next) {
            if (evutil_ascii_strcasecmp(each->key, name) != 0) continue;
            value = ++found == 1 ? std::optional<std::string_view>(each->value) : std::nullopt;
        }
        return value;
    }

    static void send(evhttp_request* request, const HttpReply& reply, bool head_only) {
        evkeyvalq* headers = evhttp_request_get_output_headers(request);
        evhttp_add_header(headers, "Content-Type", reply.type.c_str());
        evhttp_add_header(headers, "Content-Length", std::to_string(reply.body.size()).c_str());
        evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
        evhttp_add_header(headers, "Cache-Control", "no-store");
        evhttp_add_header(headers, "Connection", "close");
        for (const auto& [name, value] : reply.headers) evhttp_add_header(headers, name.c_str(), value.c_str());
        std::unique_ptr<evbuffer, Deleter<evbuffer_free>> body(evbuffer_new());
        if (!head_only) evbuffer_add(body.get(), reply.body.data(), reply.body.size());
        evhttp_send_reply(request, reply.status, nullptr, body.get());
    }
};

HttpEndpoint::HttpEndpoint(const HttpLimits& limits) : state_(std::make_unique<State>(limits)) {}
HttpEndpoint::~HttpEndpoint() = default;
const HostPort& HttpEndpoint::at() const { return state_->at; }

bool HostPort::loopback() const { return host == "localhost" || host == "::1" || host.substr(0, 4) == "127."; }

std::string HostPort::text() const {
    return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

Result<HostPort> parse_host_port(std::string_view text) {
    Error wrong{ExitCode::usage, fmt::format("invalid address '{}'; expected [HOST]:PORT, such as :9400", text)};
    HostPort at;
    std::size_t colon = text.rfind(':');
    std::string_view host = colon == std::string_view::npos ? "" : text.substr(0, colon);
    std::string_view port = colon == std::string_view::npos ? text : text.substr(colon + 1);
    if (host.size() >= 2 && host.front() == '[' && host.back() == ']')
        host = host.substr(1, host.size() - 2);
    else if (host.find_first_of(":[]/ ") != std::string_view::npos)
        return wrong;
    auto [end, problem] = std::from_chars(port.data(), port.data() + port.size(), at.port);
    if (port.empty() || problem != std::errc{} || end != port.data() + port.size()) return wrong;
    if (!host.empty()) at.host = host;
    return at;
}

Result<std::unique_ptr<HttpEndpoint>> HttpEndpoint::open(const HostPort& at, const HttpLimits& limits) {
    event_set_log_callback([](int, const char*) {});
    std::unique_ptr<HttpEndpoint> endpoint(new HttpEndpoint(limits));
    State& state = *endpoint->state_;
    state.at = at;
    state.base.reset(event_base_new());
    state.http.reset(state.base ? evhttp_new(state.base.get()) : nullptr);
    if (!state.http) return Error{ExitCode::internal, "cannot create a server: out of memory or file descriptors"};
    evhttp_set_max_headers_size(state.http.get(), kMaxHeadBytes);
    evhttp_set_max_body_size(state.http.get(), static_cast<ev_ssize_t>(limits.body));
    evhttp_set_timeout(state.http.get(), kTimeoutSeconds);
    evhttp_set_allowed_methods(state.http.get(), kAllMethods);
    evhttp_set_bevcb(
        state.http.get(),
        [](event_base* base, void* self) { return static_cast<State*>(self)->connections.open(base); }, &state);
    errno = 0;
    evhttp_bound_socket* bound = evhttp_bind_socket_with_handle(state.http.get(), at.host.c_str(), at.port);
    if (bound == nullptr) {
        bool refused = errno == EADDRINUSE || errno == EACCES || errno == EADDRNOTAVAIL;
        return Error{
            refused ? ExitCode::not_permitted : ExitCode::usage,
            fmt::format("cannot listen on {}: {}{}", at.text(), refused ? std::strerror(errno) : "unknown host",
                        errno == EADDRINUSE ? "; choose another port" : "")};
    }
    state.at.port = port_of(evhttp_bound_socket_get_fd(bound));
    evconnlistener_set_error_cb(evhttp_bound_socket_get_listener(bound), pause_accepting);
    return endpoint;
}

HttpReply method_not_allowed(const std::string& allowed) {
    return {.status = 405, .body = "allowed: " + allowed + "\n", .headers = {{"Allow", allowed}}};
}

void HttpEndpoint::end() { event_base_loopbreak(state_->base.get()); }

Status HttpEndpoint::serve(std::function<HttpReply(const HttpRequest&)> page, std::function<void()> every_second,
                           const std::function<void()>& ready) {
    State& state = *state_;
    state.page = std::move(page);
    state.every_second = std::move(every_second);
    limit_connections();
    evhttp_set_gencb(
        state.http.get(), [](evhttp_request* request, void* self) { static_cast<State*>(self)->answer(request); },
        &state);
    take_signals();
    auto end = [](evutil_socket_t, short, void* base) { event_base_loopbreak(static_cast<event_base*>(base)); };
    Event terminated(evsignal_new(state.base.get(), SIGTERM, end, state.base.get()));
    Event interrupted(evsignal_new(state.base.get(), SIGINT, end, state.base.get()));
    Event timer(event_new(
        state.base.get(), -1, EV_PERSIST,
        [](evutil_socket_t, short, void* self) { static_cast<const State*>(self)->every_second(); }, &state));
    Event sweeper(event_new(
        state.base.get(), -1, EV_PERSIST,
        [](evutil_socket_t, short, void* self) { static_cast<State*>(self)->connections.sweep(); }, &state));
    timeval second{1, 0}, often{0, HttpConnections::kSweepInterval / 1000};
    if (!terminated || !interrupted || !timer || !sweeper || event_add(sweeper.get(), &often) != 0 ||
        event_add(terminated.get(), nullptr) != 0 || event_add(interrupted.get(), nullptr) != 0 ||
        event_add(timer.get(), &second) != 0)
        return Error{ExitCode::internal, "cannot install signal handlers"};
    ready();
    if (asked_to_end == 0 && event_base_dispatch(state.base.get()) < 0)
        return Error{ExitCode::internal, "the server's event loop failed"};
    return {};
}

}  // namespace gpuprof::cli
