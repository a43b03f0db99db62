// A small HTTP endpoint over libevent's evhttp: a few pages, one thread, until SIGTERM or SIGINT. Requests are small (8 KiB of head,
// a body is ignored), quick (5 s between bytes, 10 s in all; cli/http/connections.h) and few (a connection closes after its reply;
// 100 at a time). What a method, path or header means is for the page to say; only GET, HEAD and POST get that far.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/http/connections.h"
#include "core/base/result.h"

namespace gpuprof {

struct HostPort {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;  // 0: any that is free

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
    // The value of a header, whose name is any case; "" where there is none, nothing at all where there are several.
    std::function<std::optional<std::string_view>(const char* name)> header;
};

struct HttpReply {
    int status = 200;
    std::string type = "text/plain; charset=utf-8", body = {};
    std::vector<std::pair<std::string, std::string>> headers = {};  // beside those that every reply has
};

// 405, naming the methods that are allowed.
HttpReply method_not_allowed(const std::string& allowed);

class HttpEndpoint {
public:
    // Listens. An address that is in use or not allowed is not_permitted.
    static Result<std::unique_ptr<HttpEndpoint>> open(const HostPort& at, const HttpLimits& limits = {},
                                                      MakeStream make_stream = plain_stream);
    ~HttpEndpoint();

    // With the port that was taken.
    const HostPort& at() const;
    // Answers until a signal or end() ends it. `page` gives the reply for a request; `every_second` is called between requests;
    // `ready` once, when signals and requests are listened to.
    Status serve(std::function<HttpReply(const HttpRequest&)> page, std::function<void()> every_second,
                 const std::function<void()>& ready);
    // From `page` or `every_second`.
    void end();

private:
    HttpEndpoint(const HttpLimits& limits, MakeStream make_stream);
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace gpuprof
