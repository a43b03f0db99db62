// Clients that stall on purpose lose their connection at the deadline; others are served while they do.
#include "cli/http/endpoint.h"

#include <arpa/inet.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/base/clock.h"

namespace gpuprof {
namespace {

constexpr DurNs kSoonEnough = 60'000 * kMillisecond;  // even on a busy machine

class Client {
public:
    explicit Client(std::uint16_t port, int receive_buffer = 0) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
        if (receive_buffer > 0) setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    }
    ~Client() { close(socket_); }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    bool send(std::string_view text) const {
        return ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
    }
    // What comes until the end, at most `bytes`; nothing when none comes for a minute.
    std::string receive(std::size_t bytes = SIZE_MAX) const {
        std::string text;
        char part[4096];
        for (pollfd ready{socket_, POLLIN, 0}; text.size() < bytes && poll(&ready, 1, 60'000) == 1;) {
            ssize_t got = recv(socket_, part, std::min(sizeof part, bytes - text.size()), 0);
            if (got <= 0) return text;
            text.append(part, static_cast<std::size_t>(got));
        }
        return text;
    }
    // Whether the other end is closed within `timeout`, data that comes left unread.
    bool closed_within(DurNs timeout) const {
        for (TimeNs until = monotonic_ns() + timeout; monotonic_ns() < until; usleep(5000)) {
            pollfd ended{socket_, POLLRDHUP, 0};
            if (poll(&ended, 1, 0) == 1 && (ended.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) return true;
        }
        return false;
    }

private:
    int socket_;
};

class Serving {
public:
    explicit Serving(const HttpLimits& limits) {
        signal(SIGPIPE, SIG_IGN);  // as the program does
        getrlimit(RLIMIT_NOFILE, &descriptors_);
        auto opened = HttpEndpoint::open({}, limits);
        EXPECT_TRUE(opened.ok());
        endpoint_ = std::move(*opened);
        thread_ = std::thread([this] {
            (void)endpoint_->serve(
                [this](const HttpRequest& request) {
                    if (request.path == "/end") endpoint_->end();
                    return HttpReply{.body = request.path == "/large" ? std::string(64 << 20, 'x') : "hello\n"};
                },
                [] {}, [] {});
        });
    }
    ~Serving() {
        Client(port()).send("GET /end HTTP/1.1\r\nHost: x\r\n\r\n");
        thread_.join();
        setrlimit(RLIMIT_NOFILE, &descriptors_);
    }
    std::uint16_t port() const { return endpoint_->at().port; }
    std::string get(const char* path) const {
        Client client(port());
        client.send(std::string("GET ") + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
        return client.receive();
    }

private:
    rlimit descriptors_{};
    std::unique_ptr<HttpEndpoint> endpoint_;
    std::thread thread_;
};

// A byte now and then, so that the pause between two is never long.
TEST(HttpEndpoint, ARequestHasADeadlineInAll) {
    Serving serving({.request = 300 * kMillisecond});
    Client slow(serving.port()), silent(serving.port());
    slow.send("GET / HTTP/1.1\r\n");
    bool cut = false;
    for (TimeNs until = monotonic_ns() + kSoonEnough; !cut && monotonic_ns() < until;) {
        slow.send("X");
        cut = slow.closed_within(50 * kMillisecond);
    }
    EXPECT_TRUE(cut);
    EXPECT_TRUE(silent.closed_within(kSoonEnough));
    // On a busy machine, this client too may stall beyond the deadline.
    bool served = false;
    for (TimeNs until = monotonic_ns() + kSoonEnough; !served && monotonic_ns() < until;)
        served = serving.get("/").find("hello") != std::string::npos;
    EXPECT_TRUE(served);
}

TEST(HttpEndpoint, AReplyThatIsNotTakenHasADeadline) {
    Serving serving({.reply = 300 * kMillisecond, .slowest_bytes_per_s = 1e9});
    // The client cannot see the end before it takes the data. On a busy machine the server may be late, so it pauses longer.
    std::size_t taken = SIZE_MAX;
    for (DurNs pause = 1000 * kMillisecond; taken >= 64U << 20 && pause <= kSoonEnough; pause *= 4) {
        Client slow(serving.port(), 4096);
        slow.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
        EXPECT_NE(slow.receive(15).find("200"), std::string::npos);
        EXPECT_NE(serving.get("/").find("hello"), std::string::npos);
        std::this_thread::sleep_for(std::chrono::nanoseconds(pause));
        taken = slow.receive().size();  // the end comes after what the kernel had taken
    }
    EXPECT_LT(taken, 64U << 20);
}

// Without the size in it, this deadline would be over at once.
TEST(HttpEndpoint, ALargeReplyMayTakeLongerByItsSize) {
    Serving serving({.reply = 0, .slowest_bytes_per_s = 4 << 20});
    EXPECT_GT(serving.get("/large").size(), 64U << 20);
}

TEST(HttpEndpoint, TheOldestWithoutARequestMakesRoom) {
    Serving serving({.connections = 3});
    Client first(serving.port()), second(serving.port()), third(serving.port());
    first.send("GET / HT"), second.send("GET"), third.send("G");
    usleep(50'000);
    EXPECT_NE(serving.get("/").find("hello"), std::string::npos);
    EXPECT_TRUE(first.closed_within(kSoonEnough));
    EXPECT_FALSE(third.closed_within(20 * kMillisecond));
}

// The loop was busy making a page; requests that arrived during that time are not late.
TEST(HttpEndpoint, TimeThatThePageTookIsNotTheClients) {
    event_base* base = event_base_new();
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    {
        HttpConnections connections({.request = 200 * kMillisecond});
        bufferevent* stream = connections.open(base);
        bufferevent_setfd(stream, ends[0]);
        bufferevent_setcb(
            stream, nullptr, nullptr, [](bufferevent*, short, void*) {}, nullptr);
        auto cut = [&] {
            char byte = 0;
            return recv(ends[1], &byte, 1, 0) == 0;
        };
        connections.sweep();
        usleep(500'000);
        connections.sweep();
        EXPECT_FALSE(cut());
        for (int i = 0; i < 50 && !cut(); ++i) usleep(100'000), connections.sweep();
        EXPECT_TRUE(cut());
        bufferevent_free(stream);
    }
    close(ends[1]);
    event_base_free(base);
}

TEST(HttpEndpoint, AConnectionEndsAfterItsReply) {
    Serving serving({});
    Client client(serving.port());
    client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_NE(client.receive().find("Connection: close"), std::string::npos);
    EXPECT_TRUE(client.closed_within(kSoonEnough));
}

}  // namespace
}  // namespace gpuprof
