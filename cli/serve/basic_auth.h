// HTTP basic authentication (RFC 7617) against bcrypt hashes. Checking a password takes as long as the cost of its hash
// dictates (60 ms at cost 10), for unknown users too. The last accepted credentials are cached, because Prometheus
// sends them with every scrape.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace gpuprof::inline cli {

class BasicAuth {
public:
    explicit BasicAuth(std::map<std::string, std::string> users) : users_(std::move(users)) {}

    // Without users, no authentication is required.
    bool required() const { return !users_.empty(); }
    // Checks the Authorization header; absent if there are several.
    bool allows(std::optional<std::string_view> header);

private:
    bool check(std::string_view credentials) const;

    std::map<std::string, std::string> users_;
    std::string allowed_;  // the last accepted header
};

// "user:password" from "Basic dXNlcjpwYXNzd29yZA=="; absent if malformed.
std::optional<std::string> basic_credentials(std::string_view header);

}  // namespace gpuprof::cli
