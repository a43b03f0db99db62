// The responses of `view`: the viewer's page, which contains no secret, and the document, for clients with a token. Any
// web page in a browser on this machine can send requests to it, so the loopback address alone protects nothing:
//   - Host must be this server; otherwise a name rebound to 127.0.0.1 would be accepted;
//   - Origin and Sec-Fetch-Site, if the browser sends them, must belong to this page;
//   - a token arrives in a header that other pages cannot set, and is exchanged for a cookie that other sites do not
//     receive. The printed token works until the server ends. The one in the address given to a started browser works
//     once: other users of the machine can read the arguments of its process;
//   - no other origin may read; requests carry numbers and SQL, never paths; nothing is written.
// Until show(), requests for the document are answered with 503. Until its answer is there, /progress says how far the preparation is.
// The recordings of a job's ranks are under /rank/N/, with a page of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/http/endpoint.h"
#include "cli/view/content.h"
#include "core/base/result.h"

namespace gpuprof::inline cli {

class ViewService {
public:
    // `page` is the built viewer. The secrets are random.
    static Result<ViewService> make(std::string_view page, std::uint16_t port);

    HttpReply answer(const HttpRequest& request);
    // The content, or the same with more.
    void show(ViewContent content);
    bool shows() const { return content_ != nullptr; }
    // JSON about the preparation of the content, for /progress before show().
    void report_progress(std::function<std::string()> progress) { progress_ = std::move(progress); }
    // The part of the address after "#": of the printed one, and of the one that a started browser gets.
    const std::string& token() const { return token_; }
    const std::string& token_for_one() const { return token_for_one_; }
    // Whether a query is running.
    bool busy() const;

private:
    struct Sql {
        std::shared_ptr<const ViewDocument> document;
        std::unique_ptr<SqlPages> pages;
    };

    ViewService(std::string_view page, std::uint16_t port);
    bool is_our_host(std::string_view host) const;
    bool is_same_origin(const HttpRequest& request, std::string_view host) const;
    bool has_session_cookie(const HttpRequest& request) const;
    HttpReply session(const HttpRequest& request);
    HttpReply content(const HttpRequest& request);
    HttpReply rank(const HttpRequest& request, std::string_view path);
    // `under`: the prefix of the document's paths, which `path` lacks.
    HttpReply document(const HttpRequest& request, std::shared_ptr<const ViewDocument> document, std::string_view under,
                       std::string_view path);
    SqlPages* sql_over(std::shared_ptr<const ViewDocument> document, std::string_view under);

    std::string page_;
    std::uint16_t port_;
    std::string token_, token_for_one_, cookie_;
    std::function<std::string()> progress_;
    std::unique_ptr<ViewContent> content_;         // null until show()
    std::map<std::string, Sql, std::less<>> sql_;  // by the prefix of the document; ends before the content
};

}  // namespace gpuprof::cli
