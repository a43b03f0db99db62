// The responses of `view`: the viewer's page, which contains no secret, and the document, for clients with the token
// from the printed address. Any web page in a browser on this machine can send requests to it, so the loopback address
// alone protects nothing:
//   - Host must be this server; otherwise a name rebound to 127.0.0.1 would be accepted;
//   - Origin and Sec-Fetch-Site, if the browser sends them, must belong to this page;
//   - the token arrives once, in a header that other pages cannot set, and is exchanged for a cookie that other sites
//     do not receive;
//   - no other origin may read; requests carry numbers, never paths; nothing is written.
// The recordings of a job's ranks are under /rank/N/, with a page of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/http/endpoint.h"
#include "core/base/result.h"
#include "core/model/interval.h"
#include "core/view/document.h"

namespace gpuprof {

// What a job knows of the recordings of its ranks; without functions, there are none.
struct RankPages {
    std::function<std::vector<std::int32_t>()> openable = {};
    std::function<std::optional<Interval>(std::int32_t rank, std::int64_t step)> step = {};
    std::function<Result<const ViewDocument*>(std::int32_t rank)> open = {};
};

class ViewService {
public:
    // `page` is the built viewer. The secrets are random.
    static Result<ViewService> make(ViewPair pair, std::string_view page, std::uint16_t port, RankPages ranks = {});

    HttpReply answer(const HttpRequest& request);
    // The part of the address after "#".
    const std::string& token() const { return token_; }

private:
    ViewService(ViewPair pair, std::string_view page, std::uint16_t port, RankPages ranks);
    bool is_our_host(std::string_view host) const;
    bool is_same_origin(const HttpRequest& request, std::string_view host) const;
    bool has_session_cookie(const HttpRequest& request) const;
    HttpReply session(const HttpRequest& request);
    HttpReply content(std::string_view path) const;
    HttpReply rank(std::string_view path) const;

    ViewPair pair_;
    RankPages ranks_;
    std::string page_;
    std::uint16_t port_;
    std::string token_, cookie_;
    bool exchanged_ = false;
};

}  // namespace gpuprof
