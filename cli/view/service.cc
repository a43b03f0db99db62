#include "cli/view/service.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <vector>

#include "core/base/parallel.h"

namespace gpuprof::inline cli {
namespace {

constexpr std::size_t kMaxBlobs = 64;  // per request
constexpr std::size_t kMaxSql = 6;     // documents with SQL at the same time, beyond which idle ones are released
constexpr std::string_view kSql = "/sql";

// 128 random bits in hexadecimal; empty if the system provides none.
std::string secret() {
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) return {};
    std::string text;
    for (unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
    return text;
}

// Constant time for texts of equal length.
bool same_secret(std::string_view a, std::string_view b) {
    unsigned difference = a.size() == b.size() ? 0 : 1;
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
        difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
    return difference == 0;
}

// Whether a cookie header such as "a=1; b=2" has this name and value.
bool has_cookie(std::string_view cookies, std::string_view name, std::string_view value) {
    while (!cookies.empty()) {
        std::string_view each = cookies.substr(0, cookies.find(';'));
        cookies.remove_prefix(std::min(cookies.size(), each.size() + 1));
        while (!each.empty() && each.front() == ' ') each.remove_prefix(1);
        if (each.size() > name.size() && each.substr(0, name.size()) == name && each[name.size()] == '=' &&
            same_secret(each.substr(name.size() + 1), value))
            return true;
    }
    return false;
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
    Number number = 0;
    auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    return problem == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// Parses "12,13,40"; absent if a blob does not exist.
std::optional<std::vector<std::size_t>> numbers_of(std::string_view ids, std::size_t blobs) {
    std::vector<std::size_t> numbers;
    do {
        std::string_view each = ids.substr(0, ids.find(','));
        ids.remove_prefix(std::min(ids.size(), each.size() + 1));
        std::size_t id = 0;
        auto [end, problem] = std::from_chars(each.data(), each.data() + each.size(), id);
        if (problem != std::errc{} || end != each.data() + each.size() || id >= blobs) return std::nullopt;
        numbers.push_back(id);
    } while (!ids.empty());
    return numbers;
}

HttpReply blobs_reply(const ViewDocument& document, std::string_view ids) {
    std::optional<std::vector<std::size_t>> numbers = numbers_of(ids, document.blobs());
    if (!numbers) return rejected(404, "no such blob");
    if (numbers->size() > kMaxBlobs)
        return rejected(400, fmt::format("too many blobs; at most {} per request", kMaxBlobs));
    std::vector<std::string> blobs(numbers->size());
    run_parallel(blobs.size(), default_threads(),
                 [&](std::size_t i, unsigned) { blobs[i] = document.blob((*numbers)[i], EncodingGoal::narrowest); });
    HttpReply reply{.type = "application/octet-stream"};
    for (const std::string& blob : blobs) append_framed(reply.body, blob);
    return reply;
}

bool takes_post(std::string_view path) {
    std::size_t sql = path.find(kSql);
    return path == "/session" ||
           (sql != std::string_view::npos && (path.ends_with("/sql") || path.ends_with("/cancel")));
}

std::shared_ptr<const ViewDocument> kept(const ViewDocument& document) {
    return std::make_shared<const ViewDocument>(document);
}

}  // namespace

ViewService::ViewService(std::string_view page, std::uint16_t port)
    : page_(page), port_(port), token_(secret()), token_for_one_(secret()), cookie_(secret()) {}

Result<ViewService> ViewService::make(std::string_view page, std::uint16_t port) {
    ViewService service(page, port);
    if (service.token_.empty() || service.token_for_one_.empty() || service.cookie_.empty())
        return Error{ExitCode::internal, "cannot create an access token: the system provides no random numbers"};
    return service;
}

void ViewService::show(ViewContent content) { content_ = std::make_unique<ViewContent>(std::move(content)); }

bool ViewService::busy() const {
    return std::any_of(sql_.begin(), sql_.end(), [](const auto& each) { return each.second.pages->busy(); });
}

bool ViewService::is_our_host(std::string_view host) const {
    for (const char* name : {"127.0.0.1", "localhost", "[::1]"})
        if (host == fmt::format("{}:{}", name, port_)) return true;
    return false;
}

bool ViewService::is_same_origin(const HttpRequest& request, std::string_view host) const {
    std::optional<std::string_view> origin = request.header("Origin"), site = request.header("Sec-Fetch-Site");
    if (!origin || !site) return false;
    return (origin->empty() || *origin == fmt::format("http://{}", host)) &&
           (site->empty() || *site == "same-origin" || *site == "none");
}

bool ViewService::has_session_cookie(const HttpRequest& request) const {
    std::optional<std::string_view> cookies = request.header("Cookie");
    return cookies && has_cookie(*cookies, fmt::format("gpu-profile-{}", port_), cookie_);
}

HttpReply ViewService::answer(const HttpRequest& request) {
    std::optional<std::string_view> host = request.header("Host");
    if (!host || !is_our_host(*host))
        return rejected(400, "wrong Host header; this server accepts only 127.0.0.1 and localhost");
    if (!is_same_origin(request, *host)) return rejected(403, "cross-origin request rejected");
    if (request.path == "/session")
        return request.method == HttpRequest::post ? session(request) : method_not_allowed("POST");
    if (request.method != HttpRequest::get && !takes_post(request.path)) return method_not_allowed("GET, HEAD");
    if (request.path != "/" && !has_session_cookie(request))
        return rejected(401, "not authorised; open the address that gpu-profile view printed");
    HttpReply reply =
        request.path == "/" ? HttpReply{.type = "text/html; charset=utf-8", .body = page_} : content(request);
    reply.headers.insert(reply.headers.end(), {{"Cross-Origin-Resource-Policy", "same-origin"},
                                               {"Content-Security-Policy", "frame-ancestors 'none'"},
                                               {"X-Frame-Options", "DENY"},
                                               {"Referrer-Policy", "no-referrer"}});
    return reply;
}

HttpReply ViewService::session(const HttpRequest& request) {
    std::optional<std::string_view> given = request.header("Authorization");
    bool for_one = given && !token_for_one_.empty() && same_secret(*given, fmt::format("Bearer {}", token_for_one_));
    if (!given || (!for_one && !same_secret(*given, fmt::format("Bearer {}", token_))))
        return rejected(403, "wrong or used token; open the address that gpu-profile view printed");
    if (for_one) token_for_one_.clear();
    return {.status = 204,
            .headers = {
                {"Set-Cookie", fmt::format("gpu-profile-{}={}; HttpOnly; SameSite=Strict; Path=/", port_, cookie_)}}};
}

// "5/" is the page of rank 5, "5/step/12" leads there at step 12, and the rest is as for any document.
HttpReply ViewService::rank(const HttpRequest& request, std::string_view path) {
    HttpReply unknown = rejected(404, "not found: this server has no recording of that rank");
    const RankPages& ranks = content_->ranks;
    std::size_t slash = path.find('/');
    std::optional<std::int32_t> number = number_of<std::int32_t>(path.substr(0, slash));
    if (!number || slash == std::string_view::npos || !ranks.open || !ranks.step) return unknown;
    path.remove_prefix(slash);
    if (path == "/") return {.type = "text/html; charset=utf-8", .body = page_};
    constexpr std::string_view kStep = "/step/";
    if (path.substr(0, kStep.size()) == kStep) {
        std::optional<std::int64_t> step = number_of<std::int64_t>(path.substr(kStep.size()));
        std::optional<Interval> window = step ? ranks.step(*number, *step) : std::nullopt;
        std::string view = window ? fmt::format("#page=timeline&abs={}-{}", window->start, window->end) : "";
        return {.status = 302, .headers = {{"Location", fmt::format("/rank/{}/{}", *number, view)}}};
    }
    Result<std::shared_ptr<const ViewDocument>> opened = ranks.open(*number);
    return opened.ok() ? document(request, *opened, fmt::format("/rank/{}", *number), path)
                       : rejected(404, opened.error().message);
}

HttpReply ViewService::document(const HttpRequest& request, std::shared_ptr<const ViewDocument> document,
                                std::string_view under, std::string_view path) {
    constexpr std::string_view kBlobs = "/blobs/";
    if (path.substr(0, kSql.size()) == kSql) {
        if (!content_->whole) return rejected(503, "SQL can be used once the answer is computed");
        SqlPages* sql = sql_over(std::move(document), under);
        return sql == nullptr ? rejected(404, "not found: this server answers no SQL")
                              : sql->answer(request, path.substr(kSql.size()));
    }
    if (request.method != HttpRequest::get) return method_not_allowed("GET, HEAD");
    if (path == "/manifest") return {.type = "application/json", .body = document->manifest()};
    if (path.substr(0, kBlobs.size()) == kBlobs) return blobs_reply(*document, path.substr(kBlobs.size()));
    return rejected(404,
                    "not found; available: /, /progress, /manifest, /blobs/N,N,..., /sql and, for a comparison, "
                    "/comparison and the prefix /base");
}

SqlPages* ViewService::sql_over(std::shared_ptr<const ViewDocument> document, std::string_view under) {
    auto known = sql_.find(under);
    if (known != sql_.end()) return known->second.pages.get();
    if (!content_->sql) return nullptr;
    for (auto each = sql_.begin(); sql_.size() >= kMaxSql && each != sql_.end();)
        each = each->second.pages->busy() ? std::next(each) : sql_.erase(each);
    Sql sql{document, content_->sql(document->trace())};
    return sql_.emplace(under, std::move(sql)).first->second.pages.get();
}

HttpReply ViewService::content(const HttpRequest& request) {
    std::string_view path = request.path;
    if (path == "/progress" && content_ && content_->whole)
        return {.type = "application/json", .body = R"({"stage":"ready","share":1,"elapsed_s":0})"};
    if (path == "/progress") return {.type = "application/json", .body = progress_ ? progress_() : "null"};
    if (!content_) return rejected(503, "the recording is still being prepared");
    const ViewPair& pair = content_->pair;
    if (path == "/comparison") return {.type = "application/json", .body = pair.base ? pair.base->comparison : "null"};
    if (path == "/recordings") {
        std::vector<std::int32_t> ranks;
        if (content_->ranks.openable) ranks = content_->ranks.openable();
        return {.type = "application/json", .body = fmt::format("[{}]", fmt::join(ranks, ","))};
    }
    constexpr std::string_view kRank = "/rank/", kBase = "/base";
    if (path.substr(0, kRank.size()) == kRank) return rank(request, path.substr(kRank.size()));
    if (path.substr(0, kBase.size()) != kBase) return document(request, kept(pair.document), "", path);
    return pair.base ? document(request, kept(pair.base->document), kBase, path.substr(kBase.size()))
                     : rejected(404, "not found: this server has no comparison");
}

}  // namespace gpuprof::cli
