#include "cli/serve/basic_auth.h"

#include <crypt.h>
#include <strings.h>

#include <memory>

namespace gpuprof::inline cli {
namespace {

// Constant time: the duration reveals only the lengths.
bool same(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    unsigned char differs = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        differs = static_cast<unsigned char>(differs | static_cast<unsigned char>(a[i] ^ b[i]));
    return differs == 0;
}

int digit_of(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

std::optional<std::string> from_base64(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    while (!text.empty() && text.back() == '=') text.remove_suffix(1);
    std::string bytes;
    unsigned bits = 0, held = 0;
    for (char c : text) {
        int digit = digit_of(c);
        if (digit < 0) return std::nullopt;
        bits = (bits << 6 | static_cast<unsigned>(digit)) & 0xFFFF, held += 6;
        if (held < 8) continue;
        held -= 8;
        bytes += static_cast<char>(bits >> held & 0xFF);
    }
    return bytes;
}

}  // namespace

std::optional<std::string> basic_credentials(std::string_view header) {
    constexpr std::string_view kBasic = "Basic ";
    if (header.size() <= kBasic.size() || strncasecmp(header.data(), kBasic.data(), kBasic.size()) != 0)
        return std::nullopt;
    return from_base64(header.substr(kBasic.size()));
}

bool BasicAuth::check(std::string_view credentials) const {
    std::size_t colon = credentials.find(':');
    if (colon == credentials.npos || credentials.find('\0') != credentials.npos) return false;
    auto user = users_.find(std::string(credentials.substr(0, colon)));
    // An unknown user takes as long as a known one.
    const std::string& hash = user == users_.end() ? users_.begin()->second : user->second;
    std::string password(credentials.substr(colon + 1));
    auto scratch = std::make_unique<crypt_data>();
    const char* found = crypt_rn(password.c_str(), hash.c_str(), scratch.get(), sizeof *scratch);
    return found != nullptr && same(found, hash) && user != users_.end();
}

bool BasicAuth::allows(std::optional<std::string_view> header) {
    if (!required()) return true;
    if (!header || header->empty()) return false;
    if (!allowed_.empty() && same(*header, allowed_)) return true;
    std::optional<std::string> credentials = basic_credentials(*header);
    if (!credentials || !check(*credentials)) return false;
    allowed_ = *header;
    return true;
}

}  // namespace gpuprof::cli
