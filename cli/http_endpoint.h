// A small HTTP endpoint over libevent's evhttp: GET and HEAD of a few pages, one thread, until SIGTERM or SIGINT. Requests are
// small (8 KiB of head, no body), quick (5 s) and few (a connection closes after its reply; 200 at a time); nothing is
// written, nothing of the request but its path is looked at.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

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

struct HttpReply {
    int status = 200;
    std::string type = "text/plain; charset=utf-8", body;
};

class HttpEndpoint {
public:
    // Listens. An address that is in use or not allowed is not_permitted.
    static Result<std::unique_ptr<HttpEndpoint>> open(const HostPort& at);
    ~HttpEndpoint();

    // With the port that was taken.
    const HostPort& at() const;
    // Answers until a signal ends it. `page` gives the reply for a path; `every_second` is called between requests;
    // `ready` once, when signals and requests are listened to.
    Status serve(std::function<HttpReply(std::string_view path)> page, std::function<void()> every_second,
                 const std::function<void()>& ready);

private:
    HttpEndpoint();
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace gpuprof
