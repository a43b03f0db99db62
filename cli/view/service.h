// What `view` answers to requests: the viewer's page, which holds no secret, and the document to whoever has the token that the
// address carried. A browser on this machine can be made to send requests by any page that it shows, so the loopback address is no
// boundary by itself:
//   - Host must be this server, or a name that was rebound to 127.0.0.1 would do;
//   - Origin and Sec-Fetch-Site, where a browser sends them, must be of this page;
//   - the token comes once, by a header that other pages cannot set, and is exchanged for a cookie that other sites do not get;
//   - nothing allows other origins to read; requests carry numbers, never paths; nothing is written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/http/endpoint.h"
#include "core/base/result.h"
#include "core/view/document.h"

namespace gpuprof {

class ViewService {
public:
    // `page` is the built viewer. The secrets are random.
    static Result<ViewService> make(ViewPair pair, std::string_view page, std::uint16_t port);

    HttpReply answer(const HttpRequest& request);
    // What the address carries behind "#".
    const std::string& token() const { return token_; }

private:
    ViewService(ViewPair pair, std::string_view page, std::uint16_t port);
    bool meant_for_us(std::string_view host) const;
    bool from_our_page(const HttpRequest& request, std::string_view host) const;
    bool knows_cookie(const HttpRequest& request) const;
    HttpReply session(const HttpRequest& request);
    HttpReply content(std::string_view path) const;

    ViewPair pair_;
    std::string page_;
    std::uint16_t port_;
    std::string token_, cookie_;
    bool exchanged_ = false;
};

}  // namespace gpuprof
