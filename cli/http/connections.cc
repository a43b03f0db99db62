#include "cli/http/connections.h"

#include <event2/bufferevent.h>
#include <event2/util.h>
#include <sys/socket.h>

#include <algorithm>

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

}  // namespace gpuprof::cli
