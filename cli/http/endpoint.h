// A small HTTP endpoint over libevent's evhttp: a few pages, one thread, until SIGTERM or SIGINT. Requests are small (8
// KiB of head, 1 KiB of body unless more is allowed), quick (5 s between bytes, 10 s in total) and few (one per
// connection, 100 at a time). The page decides what methods, paths and headers mean; only GET, HEAD and POST reach it.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"

struct bufferevent;
struct event_base;

namespace gpuprof::inline cli {

struct HttpLimits {
    DurNs request = 10'000'000'000;       // from the first byte of a connection to the last of its request
    DurNs reply = 60'000'000'000;         // for taking a reply, plus a share for its size:
    double slowest_bytes_per_s = 65'536;  // minimum average rate of the client beyond that
    std::size_t connections = 100;        // open at the same time
    std::size_t body = 1024;              // bytes of the body of a request
};

// The connections of an HTTP endpoint, each with a deadline for the request and one for the reply. libevent limits only
// the pause between two bytes, so a client that sends or takes a byte now and then could hold its connection for hours.
// Here the whole request must arrive, and the reply be taken, within a time that starts when they begin. Beyond a
// maximum number of connections, the oldest one without a complete request is closed.
//
// evhttp frees a connection without notice. Each one is therefore held by a separate reference; when its callbacks are
// gone, it was freed.
// sweep() releases those and closes connections past their deadline.
class HttpConnections {
public:
    explicit HttpConnections(const HttpLimits& limits) : limits_(limits) {}
    ~HttpConnections();
    HttpConnections(const HttpConnections&) = delete;
    HttpConnections& operator=(const HttpConnections&) = delete;

    // For a connection that is being accepted; null if out of memory.
    bufferevent* open(event_base* base);
    // A reply of `bytes` begins.
    void replying(const bufferevent* stream, std::size_t bytes);
    // Call every kSweepInterval.
    void sweep();
    static constexpr DurNs kSweepInterval = 100'000'000;

private:
    struct Connection {
        bufferevent* stream;
        TimeNs deadline;  // CLOCK_MONOTONIC
        bool replying = false;
    };
    static bool freed(const Connection& connection);
    static void cut(Connection& connection);

    HttpLimits limits_;
    TimeNs swept_ = 0;
    std::list<Connection> open_;  // oldest first
};

struct HostPort {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;  // 0: any free port

    // Whether only this machine can reach it.
    bool loopback() const;
    // "127.0.0.1:9400", "[::1]:9400".
    std::string text() const;
};
// ":9400", "9400", "HOST:PORT", "[::1]:9400".
Result<HostPort> parse_host_port(std::string_view text);

struct HttpRequest {
    enum Method : std::uint8_t { get, post } method = get;  // HEAD is a GET whose body is not sent
    std::string_view path;
    // The value of a header, whose name may have any case: "" if the header is missing, absent if there are several.
    std::function<std::optional<std::string_view>(const char* name)> header;
    std::string_view body = {};
    std::string_view query = {};  // after the ?, as it was sent
};

struct HttpReply {
    int status = 200;
    std::string type = "text/plain; charset=utf-8", body = {};
    std::vector<std::pair<std::string, std::string>> headers = {};  // in addition to those of every reply
};

// The reason as a line of text.
inline HttpReply rejected(int status, std::string_view why) {
    return {.status = status, .body = std::string(why) + "\n"};
}
// 405, with the allowed methods.
HttpReply method_not_allowed(const std::string& allowed);

class HttpEndpoint {
public:
    // Starts listening. An address that is in use or not permitted is not_permitted.
    static Result<std::unique_ptr<HttpEndpoint>> open(const HostPort& at, const HttpLimits& limits = {});
    ~HttpEndpoint();

    // With the actual port.
    const HostPort& at() const;
    // Serves until a signal or end(). `page` returns the reply to a request; `every_second` runs between requests;
    // `ready` runs once, when signals and requests are handled.
    Status serve(std::function<HttpReply(const HttpRequest&)> page, std::function<void()> every_second,
                 const std::function<void()>& ready);
    // Call from `page` or `every_second`.
    void end();

private:
    explicit HttpEndpoint(const HttpLimits& limits);
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace gpuprof::cli
