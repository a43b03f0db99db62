#include "core/base/text/secrets.h"

#include <algorithm>
#include <array>
#include <span>

#include "core/base/text/ascii.h"

namespace gpuprof::inline base {
namespace {

using Words = std::span<const std::string_view>;

// A name that contains one of these is secret, unless its last word is in kPublicSuffixes.
constexpr std::string_view kSecretParts[] = {"password",  "passwd",     "passphrase", "apikey",   "accesskey",
                                             "secretkey", "privatekey", "credential", "authtoken"};
constexpr std::string_view kPublicSuffixes[] = {"file",   "path", "stdin", "length", "len",  "policy",
                                                "prompt", "type", "dir",   "folder", "size", "count"};
// Names that end with one of these are secret.
constexpr std::string_view kSecretEnds[] = {"token",   "auth", "oauth", "authorization", "pass", "bearer", "cookie",
                                            "cookies", "jwt",  "creds", "cred",          "psk",  "otp",    "pat"};
// Words that may follow the decisive one: API_TOKEN_PROD.
constexpr std::string_view kVariants[] = {"value",  "prod",    "production", "dev", "staging", "test",   "ci",
                                          "header", "default", "new",        "old", "raw",     "base64", "b64"};
// What makes a token, a pass or a key harmless: eos_token, low_pass.
constexpr std::string_view kOrdinaryWords[] = {
    "eos",   "bos",   "pad",     "mask",    "cls",    "sep",    "unk", "stop",  "start", "end",    "begin",
    "image", "video", "audio",   "special", "prefix", "suffix", "per", "by",    "next",  "prev",   "cross",
    "multi", "max",   "min",     "num",     "first",  "last",   "sub", "extra", "de",    "single", "low",
    "high",  "band",  "forward", "two",     "second", "n",      "fim", "text"};
constexpr std::string_view kSwitches[] = {"no", "use", "enable", "disable", "with", "require", "skip", "has", "is"};
// Kinds of keys, and services that one logs in to with a key.
constexpr std::string_view kKeyKinds[] = {
    "api",     "access",  "private", "secret", "auth",   "encryption", "signing",    "subscription",
    "account", "storage", "license", "master", "wandb",  "openai",     "anthropic",  "huggingface",
    "hf",      "cohere",  "mistral", "gemini", "groq",   "deepseek",   "openrouter", "replicate",
    "comet",   "neptune", "clearml", "ngc",    "stripe", "sendgrid",   "datadog",    "pinecone"};
constexpr std::string_view kPassKinds[] = {"db", "user", "root", "admin", "redis", "pg", "ssh", "smtp", "ftp", "mysql"};

bool among(std::string_view word, Words words) noexcept {
    return std::find(words.begin(), words.end(), word) != words.end();
}
bool has(std::string_view text, std::string_view part) noexcept { return text.find(part) != std::string_view::npos; }

// The words of a name in lower case: "--dbPassword_2" is "db", "password". For a very long name only its end, which
// decides.
class NameWords {
public:
    explicit NameWords(std::string_view name) noexcept {
        if (name.size() > text_.size()) name.remove_prefix(name.size() - text_.size());
        std::size_t begin = 0;
        for (std::size_t i = 0; i < name.size(); ++i) {
            char c = name[i];
            if (is_upper(c) && i > 0 && is_lower(name[i - 1])) begin = end_word(begin, i);
            text_[i] = to_lower(c);
            lower_ |= is_lower(c);
            if (!is_alphanumeric(c)) begin = end_word(begin, i) + 1;
        }
        end_word(begin, name.size());
        while (count_ > 1 && among(words_[count_ - 1], kVariants)) --count_;
    }
    std::size_t count() const noexcept { return count_; }
    std::string_view last() const noexcept { return from_end(0); }
    std::string_view from_end(std::size_t i) const noexcept {
        return i < count_ ? words_[count_ - 1 - i] : std::string_view();
    }
    std::string_view first() const noexcept { return from_end(count_ - 1); }
    bool upper_case() const noexcept { return !lower_; }

private:
    std::size_t end_word(std::size_t begin, std::size_t end) noexcept {
        std::string_view word(text_.data() + begin, end - begin);
        while (!word.empty() && is_digit(word.back())) word.remove_suffix(1);
        if (!word.empty() && count_ < words_.size()) words_[count_++] = word;
        return end;
    }
    std::array<char, 128> text_{};
    std::array<std::string_view, 64> words_{};
    std::size_t count_ = 0;
    bool lower_ = false;
};

bool ends_in_secret(const NameWords& words) noexcept {
    std::string_view last = words.last(), before = words.from_end(1);
    if (among(words.first(), kSwitches) || among(before, kOrdinaryWords)) return false;
    if (among(last, kSecretEnds)) return true;
    if (last == "key") return among(before, kKeyKinds) || (words.upper_case() && !before.empty());
    if (last == "pwd") return !before.empty();  // PWD alone is the folder
    if (last == "signature") return before == "amz" || before == "goog";
    if (last == "sig") return words.count() == 1;
    for (std::string_view end : {std::string_view("pass"), std::string_view("pwd")})
        if (last.ends_with(end) && among(last.substr(0, last.size() - end.size()), kPassKinds)) return true;
    return last.ends_with("token") && !among(last.substr(0, last.size() - 5), kOrdinaryWords);
}

enum class Has { anything, upper_only, digit };  // `digit`: "sk-learn-intelex" has none
struct TokenShape {
    std::string_view prefix;
    std::size_t least;        // characters after it
    std::string_view others;  // characters allowed besides letters and digits
    Has has = Has::anything;
};
constexpr TokenShape kTokens[] = {
    {"hf_", 16, ""},
    {"ghp_", 16, ""},
    {"gho_", 16, ""},
    {"ghu_", 16, ""},
    {"ghs_", 16, ""},
    {"ghr_", 16, ""},
    {"github_pat_", 16, "_"},
    {"glpat-", 16, "_-"},
    {"sk-", 16, "_-", Has::digit},
    {"sk_live_", 16, ""},
    {"rk_live_", 16, ""},
    {"xoxb-", 10, "-"},
    {"xoxp-", 10, "-"},
    {"xoxa-", 10, "-"},
    {"xoxr-", 10, "-"},
    {"xoxs-", 10, "-"},
    {"xapp-", 16, "-", Has::digit},
    {"AIza", 30, "_-"},
    {"ya29.", 20, "_-", Has::digit},
    {"npm_", 30, ""},
    {"pypi-", 40, "_-"},
    {"AKIA", 16, "", Has::upper_only},
    {"ASIA", 16, "", Has::upper_only},
    {"nvapi-", 20, "_-"},
    {"dapi", 32, ""},
    {"dop_v1_", 32, ""},
    {"hvs.", 24, "_-", Has::digit},
    {"hvb.", 24, "_-", Has::digit},
};

std::size_t length_of(std::string_view text, std::string_view others) noexcept {
    std::size_t size = 0;
    while (size < text.size() && (is_alphanumeric(text[size]) || has(others, text.substr(size, 1)))) ++size;
    return size;
}

bool has_digit(std::string_view text) noexcept { return std::any_of(text.begin(), text.end(), is_digit); }

bool begins_with_token(std::string_view text) noexcept {
    for (const TokenShape& shape : kTokens) {
        if (!text.starts_with(shape.prefix)) continue;
        std::string_view rest = text.substr(shape.prefix.size()).substr(0, 64);
        rest = rest.substr(0, length_of(rest, shape.others));
        bool fits = shape.has == Has::upper_only ? std::none_of(rest.begin(), rest.end(), is_lower)
                                                 : shape.has != Has::digit || has_digit(rest);
        if (rest.size() >= shape.least && fits) return true;
    }
    if (text.starts_with("SG.")) {  // two parts of 22 and 43 characters; "SG.model.layers" is a name
        std::size_t first = length_of(text.substr(3, 64), "_-");
        std::string_view second = text.substr(3 + first, 64);
        return first >= 16 && second.starts_with('.') && length_of(second.substr(1), "_-") >= 32;
    }
    if (text.starts_with("eyJ")) {  // the first two parts of a JWT are JSON objects in base64: {"
        std::string_view head = text.substr(0, 512);
        std::size_t point = head.find('.');
        return point != std::string_view::npos && point > 10 && head.substr(point + 1).starts_with("eyJ");
    }
    return false;
}

}  // namespace

bool names_a_secret(std::string_view name) noexcept {
    NameWords words(name);
    if (words.count() == 0 || among(words.last(), kPublicSuffixes)) return false;
    for (std::size_t i = 0; i < words.count(); ++i) {
        std::string_view word = words.from_end(i);
        if (word.starts_with("secret") || word.ends_with("secret")) return true;
        if (word == "key" && among(words.from_end(i + 1), kKeyKinds)) return true;
        for (std::string_view part : kSecretParts)
            if (has(word, part)) return true;
    }
    return ends_in_secret(words);
}

std::size_t find_token(std::string_view run) noexcept {
    for (std::size_t at = 0; at < run.size(); ++at)
        if ((at == 0 || !is_alphanumeric(run[at - 1])) && begins_with_token(run.substr(at))) return at;
    return run.size();
}

bool begins_with_aws_secret(std::string_view text) noexcept {
    constexpr std::size_t kLength = 40;
    constexpr int kChanges = 14;  // of 39 pairs; 24 on average in random text, fewer than 10 in paths
    std::size_t size = length_of(text.substr(0, kLength + 1), "+/");
    if (size != kLength) return false;
    auto kind = [](char c) {
        if (is_upper(c)) return 0;
        if (is_lower(c)) return 1;
        return is_digit(c) ? 2 : 3;
    };
    int changes = 0;
    bool seen[4] = {};
    for (std::size_t i = 0; i < size; ++i) {
        seen[kind(text[i])] = true;
        changes += i > 0 && kind(text[i]) != kind(text[i - 1]);
    }
    return seen[0] && seen[1] && seen[2] && changes >= kChanges;
}

}  // namespace gpuprof::base
