// Fuzz target of the server of `view`, and of what a gRPC server answers. The first byte chooses: a request made of lines (path, then headers), given to the service, or bytes
// sent to the endpoint as they are, by a socket. In both a byte 1 stands for the token, 2 for the cookie, 3 for the server's own address, which nobody guesses.
// What is behind the cookie is only answered to who has it, names this server and does not come from another page, and
// only a token is exchanged for the cookie.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "cli/http/endpoint.h"
#include "cli/http/grpc_call.h"
#include "cli/view/service.h"
#include "tests/fuzz/choices.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/unit/analyze/draft.h"

namespace gpuprof::fuzz {
namespace {

constexpr std::string_view kPage = "<html>the page</html>";

ViewService service_at(std::uint16_t port) {
    Draft draft;
    draft.kernel(0, 7, 0, 100, "gemm", 1);
    draft.call("main", 0, 10, "cudaLaunchKernel", 1);
    Result<ViewDocument> document = ViewDocument::make(draft.finish(), "fuzz");
    promise(document.ok(), "a document is made");
    RankPages ranks{[] { return std::vector<std::int32_t>{5}; },
                    [](std::int32_t, std::int64_t) {
                        return std::optional(Interval{1, 2});
                    },
                    [](std::int32_t) -> Result<std::shared_ptr<const ViewDocument>> {
                        return Error{ExitCode::unreadable, "cannot open rank 5: it is not there"};
                    }};
    Result<ViewService> service = ViewService::make(kPage, port);
    promise(service.ok(), "a service is made");
    service->show({{std::move(document).value()}, std::move(ranks)});
    return std::move(service).value();
}

struct Lines {
    HttpRequest::Method method;
    std::string path;
    std::vector<std::pair<std::string, std::string>> headers;

    HttpRequest request() const {
        return {method, path, [this](const char* name) { return header(name); }};
    }
    std::optional<std::string_view> header(std::string_view name) const {
        std::optional<std::string_view> found = "";
        int times = 0;
        for (const auto& [each, value] : headers)
            if (each == name) found = ++times == 1 ? std::optional<std::string_view>(value) : std::nullopt;
        return found;
    }
};

Lines lines_of(HttpRequest::Method method, std::string_view text) {
    Lines lines{method, {}, {}};
    std::size_t end = std::min(text.find('\n'), text.size());
    lines.path = text.substr(0, end);
    while (end < text.size()) {
        text.remove_prefix(end + 1);
        end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        std::size_t colon = line.find(": ");
        if (colon != std::string_view::npos) lines.headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    }
    return lines;
}

// The server, on a thread of its own until the process ends.
class Server {
public:
    Server()
        : endpoint_(std::move(HttpEndpoint::open({})).value()),
          service_(service_at(endpoint_->at().port)),
          port_(endpoint_->at().port) {
        HttpReply reply = service_.answer(
            lines_of(HttpRequest::post,
                     fmt::format("/session\nHost: 127.0.0.1:{}\nAuthorization: Bearer {}", port_, service_.token()))
                .request());
        promise(reply.status == 204, "the token is exchanged");
        cookie_ = reply.headers.at(0).second;
        cookie_.resize(cookie_.find(';'));
        thread_ = std::thread([this] {
            static_cast<void>(endpoint_->serve([this](const HttpRequest& request) { return service_.answer(request); },
                                               [this] {
                                                   if (ended_) endpoint_->end();
                                               },
                                               [] {}));
        });
    }
    ~Server() {
        ended_ = true;
        thread_.join();
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    // What a request cannot guess, in place of the bytes 1 to 3.
    std::string with_secrets(std::string_view text) const {
        std::string out;
        for (char c : text)
            out += c == 1   ? service_.token()
                   : c == 2 ? cookie_
                   : c == 3 ? fmt::format("127.0.0.1:{}", port_)
                            : std::string(1, c);
        return out;
    }
    bool is_ours(std::string_view host) const {
        for (const char* name : {"127.0.0.1", "localhost", "[::1]"})
            if (host == fmt::format("{}:{}", name, port_)) return true;
        return false;
    }
    ViewService& service() { return service_; }
    const std::string& cookie() const { return cookie_; }

    // What it answers to these bytes.
    std::string send(std::string_view bytes) const {
        int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port_);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        std::string reply;
        if (connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
            while (!bytes.empty()) {
                ssize_t sent = ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL);
                if (sent <= 0) break;
                bytes.remove_prefix(static_cast<std::size_t>(sent));
            }
            shutdown(client, SHUT_WR);
            char piece[4096];
            for (ssize_t got; (got = recv(client, piece, sizeof piece, 0)) > 0;)
                reply.append(piece, static_cast<std::size_t>(got));
        }
        close(client);
        return reply;
    }

private:
    std::unique_ptr<HttpEndpoint> endpoint_;
    ViewService service_;
    std::uint16_t port_;
    std::string cookie_;
    std::atomic<bool> ended_ = false;
    std::thread thread_;
};

void check_service(Server& server, Choices& choices) {
    auto method = choices.byte() % 2 == 0 ? HttpRequest::get : HttpRequest::post;
    Lines lines = lines_of(method, server.with_secrets(choices.rest()));
    HttpReply reply = server.service().answer(lines.request());
    bool has_token =
        lines.header("Authorization").value_or("").find(server.service().token()) != std::string_view::npos;
    promise(reply.status != 204 || has_token, "only the token is exchanged for the cookie");
    if (reply.status != 200) return;
    promise(method == HttpRequest::get, "nothing is answered to a POST");
    promise(server.is_ours(lines.header("Host").value_or("")), "only who names this server is answered");
    promise(lines.header("Origin") == "" || server.is_ours(lines.header("Origin").value_or("").substr(7)),
            "other pages are not answered");
    bool has_cookie = lines.header("Cookie").value_or("").find(server.cookie()) != std::string_view::npos;
    promise(has_cookie || (lines.path == "/" && reply.body == kPage), "what is behind the cookie needs it");
}

void check_endpoint(const Server& server, Choices& choices) {
    std::string text = server.with_secrets(choices.rest());
    std::string reply = server.send(text);
    promise(text.find(server.cookie()) != std::string::npos || reply.find("gemm") == std::string::npos,
            "what is behind the cookie needs it");
}

void check_texts(std::string_view text) {
    static_cast<void>(parse_host_port(text));
    constexpr std::size_t kMost = 1000;
    GrpcAnswer answer(kMost);
    std::string reply;
    if (answer.take(text, reply) && answer.complete())
        promise(answer.message().size() <= kMost, "no message is longer than allowed");
    promise(reply.size() <= 2 * text.size(), "a server does not make its client send without end");
}

}  // namespace

void run_http(std::string_view bytes) {
    static Server server;
    Choices choices(bytes);
    std::uint32_t form = choices.byte() % 4u;
    if (form == 3)
        check_endpoint(server, choices);
    else if (form == 2)
        check_texts(choices.rest());
    else
        check_service(server, choices);
}

}  // namespace gpuprof::fuzz
