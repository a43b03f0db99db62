#include "cli/view/sql_pages.h"

#include <fmt/format.h>

#include <charconv>

#include "cli/view/sql_session.h"

namespace gpuprof::inline cli {
namespace {

constexpr std::string_view kType = "application/sql", kCancel = "/cancel";

HttpReply json(std::string body, int status = 200) {
    return {.status = status, .type = "application/json", .body = std::move(body)};
}

// "/12"; absent for anything else.
std::optional<std::int64_t> number_of(std::string_view path) {
    std::int64_t number = 0;
    if (path.empty() || path.front() != '/') return std::nullopt;
    auto [end, problem] = std::from_chars(path.data() + 1, path.data() + path.size(), number);
    return problem == std::errc{} && end == path.data() + path.size() ? std::optional(number) : std::nullopt;
}

class Pages final : public SqlPages {
public:
    explicit Pages(const Trace& trace) : session_(trace) {}

    HttpReply answer(const HttpRequest& request, std::string_view path) override {
        if (request.method == HttpRequest::post) return post(request, path);
        if (path == "/schema") return json(session_.schema_json());
        std::optional<std::int64_t> number = number_of(path);
        std::optional<std::string> state = number ? session_.state_json(*number) : std::nullopt;
        return state ? json(std::move(*state)) : rejected(404, "no such query");
    }
    bool busy() const override { return session_.running(); }

private:
    HttpReply post(const HttpRequest& request, std::string_view path) {
        if (request.header("Content-Type") != kType) return rejected(415, fmt::format("expected {}", kType));
        if (path.empty()) return start(request.body);
        std::optional<std::int64_t> number =
            path.ends_with(kCancel) ? number_of(path.substr(0, path.size() - kCancel.size())) : std::nullopt;
        if (!number) return rejected(404, "no such query");
        session_.cancel(*number);
        return {.status = 204};
    }

    HttpReply start(std::string_view sql) {
        Result<std::int64_t> number = session_.start(std::string(sql));
        if (!number.ok()) return rejected(409, number.error().message);
        return json(fmt::format(R"({{"query":{}}})", *number), 202);
    }

    SqlSession session_;
};

}  // namespace

std::unique_ptr<SqlPages> make_sql_pages(const Trace& trace) { return std::make_unique<Pages>(trace); }

}  // namespace gpuprof::cli
