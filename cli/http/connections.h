// The connections of an HTTP endpoint, each with a deadline for the request and one for the reply. libevent limits only
// the pause between two bytes, so a client that sends or takes a byte now and then could hold its connection for hours.
// Here the whole request must arrive, and the reply be taken, within a time that starts when they begin. Beyond a
// maximum number of connections, the oldest one without a complete request is closed.
//
// evhttp frees a connection without notice. Each one is therefore held by a separate reference; when its callbacks are
// gone, it was freed.
// sweep() releases those and closes connections past their deadline.
#pragma once

#include <cstddef>
#include <list>

#include "core/base/ids.h"

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

}  // namespace gpuprof::cli
