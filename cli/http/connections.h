// The connections of an HTTP endpoint, each with a deadline for all it does. libevent limits only the pause between two bytes,
// so that a client which sends or takes one now and then would keep its connection for hours: here the request has to be
// whole, and the reply taken, within a time that is set when they begin. Beyond a number of connections the oldest that has
// not sent its request makes room.
//
// evhttp frees a connection without telling; so each is held by a reference of our own, and one whose callbacks are gone was
// freed. sweep() lets go of those and cuts the connections that are over their time.
#pragma once

#include <cstddef>
#include <functional>
#include <list>

#include "core/base/ids.h"

struct bufferevent;
struct event_base;

namespace gpuprof {

struct HttpLimits {
    DurNs request = 10'000'000'000;       // from the first byte of a connection to the last of its request
    DurNs reply = 60'000'000'000;         // to take a reply, and longer by its size:
    double slowest_bytes_per_s = 65'536;  // what a client has to take on average beyond that
    std::size_t connections = 100;        // at a time
};

// A connection that is to be accepted; null without memory.
using MakeStream = std::function<bufferevent*(event_base*)>;
bufferevent* plain_stream(event_base* base);

class HttpConnections {
public:
    HttpConnections(const HttpLimits& limits, MakeStream make) : limits_(limits), make_(std::move(make)) {}
    ~HttpConnections();
    HttpConnections(const HttpConnections&) = delete;
    HttpConnections& operator=(const HttpConnections&) = delete;

    // For a connection that is being accepted; null without memory.
    bufferevent* open(event_base* base);
    // A reply of so many bytes begins.
    void replying(const bufferevent* stream, std::size_t bytes);
    // Every kSweepEvery.
    void sweep();
    static constexpr DurNs kSweepEvery = 100'000'000;

private:
    struct Connection {
        bufferevent* stream;
        TimeNs deadline;  // CLOCK_MONOTONIC
        bool replying = false;
    };
    static bool freed(const Connection& connection);
    static void cut(Connection& connection);

    HttpLimits limits_;
    MakeStream make_;
    TimeNs swept_ = 0;
    std::list<Connection> open_;  // in the order in which they came
};

}  // namespace gpuprof
