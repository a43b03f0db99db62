// HTTP basic authentication (RFC 7617) against bcrypt hashes. Checking a password takes as long as its hash was made to
// take (60 ms at cost 10), for unknown users too; the last credentials that were right are remembered, because Prometheus
// sends the same with every scrape.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace gpuprof {

class BasicAuth {
public:
    explicit BasicAuth(std::map<std::string, std::string> users) : users_(std::move(users)) {}

    // Nothing is asked for without users.
    bool required() const { return !users_.empty(); }
    // Of the header Authorization; absent when there are several.
    bool allows(std::optional<std::string_view> header);

private:
    bool check(std::string_view credentials) const;

    std::map<std::string, std::string> users_;
    std::string allowed_;  // the last header that was right
};

// "user:password" of "Basic dXNlcjpwYXNzd29yZA=="; absent when it is nothing of that kind.
std::optional<std::string> basic_credentials(std::string_view header);

}  // namespace gpuprof
