// The exporters' file: what is supported is read, what is not is refused by name; passwords against bcrypt.
#include "cli/serve/web_config.h"

#include <gtest/gtest.h>

#include "cli/serve/basic_auth.h"

namespace gpuprof {
namespace {

// "secret" at cost 4.
constexpr const char* kHash = "$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW";

std::string refused(const std::string& yaml) {
    Result<WebConfig> config = parse_web_config(yaml, "web.yml");
    return config.ok() ? "" : config.error().message;
}

TEST(WebConfig, IsRead) {
    Result<WebConfig> config = parse_web_config(
        "tls_server_config:\n"
        "  cert_file: server.crt\n"
        "  key_file: /etc/keys/server.key\n"
        "  client_auth_type: \"RequireAndVerifyClientCert\"\n"
        "  client_ca_file: ca.crt\n"
        "  min_version: TLS13\n"
        "basic_auth_users:\n"
        "  prometheus: " +
            std::string(kHash) + "\n",
        "/etc/gpu/web.yml");
    ASSERT_TRUE(config.ok()) << config.error().message;
    EXPECT_EQ(config->tls->cert_file, "/etc/gpu/server.crt");
    EXPECT_EQ(config->tls->key_file, "/etc/keys/server.key");
    EXPECT_EQ(config->tls->client_ca_file, "/etc/gpu/ca.crt");
    EXPECT_EQ(config->tls->client, TlsConfig::ClientCertificate::required_and_verified);
    EXPECT_EQ(config->tls->min_version, 0x0304);
    EXPECT_EQ(config->users.at("prometheus"), kHash);
    Result<WebConfig> empty = parse_web_config("# nothing\n", "web.yml");
    EXPECT_TRUE(empty.ok() && !empty->tls && empty->users.empty());
}

TEST(WebConfig, WhatIsNotSupportedIsRefusedByName) {
    const std::pair<const char*, const char*> cases[] = {
        {"http_server_config:\n  http2: false\n", "line 2: http_server_config is not supported"},
        {"tls_server_config:\n  cert_file: a\n  key_file: b\n  cipher_suites: []\n",
         "line 4: tls_server_config.cipher_suites is not"},
        {"tls_server_config:\n  cert_file: a\n", "needs cert_file and key_file"},
        {"tls_server_config:\n  cert_file: a\n  key_file: b\n  min_version: SSL3\n", "unknown min_version 'SSL3'"},
        {"tls_server_config:\n  cert_file: a\n  key_file: b\n  client_auth_type: Maybe\n", "'Maybe'"},
        {"tls_server_config:\n  cert_file: a\n  key_file: b\n  client_auth_type: RequireAndVerifyClientCert\n",
         "needs client_ca_file"},
        {"tls_server_config:\n  cert_file: a\n  key_file: b\n  client_ca_file: c\n",
         "client_ca_file needs client_auth_type"},
        {"basic_auth_users:\n  a: secret\n", "the password of 'a' is not a bcrypt hash"},
        {"basic_auth_users: [a]\n", "expected a mapping in basic_auth_users"},
        {"a: b: c\n", "line 1: "},
        {"- x\n", "expected a mapping"},
    };
    for (const auto& [yaml, said] : cases) EXPECT_NE(refused(yaml).find(said), std::string::npos) << refused(yaml);
    EXPECT_FALSE(read_web_config("/nonexistent/web.yml").ok());
    EXPECT_FALSE(read_web_config("/tmp").ok());
}

TEST(BasicAuth, ChecksPasswordsAgainstTheirHashes) {
    BasicAuth auth(std::map<std::string, std::string>{{"prometheus", kHash}});
    EXPECT_TRUE(auth.required());
    EXPECT_FALSE(auth.allows(""));
    EXPECT_FALSE(auth.allows(std::nullopt));
    EXPECT_FALSE(auth.allows("Bearer x"));
    EXPECT_FALSE(auth.allows("Basic cHJvbWV0aGV1czp3cm9uZw=="));                             // prometheus:wrong
    EXPECT_FALSE(auth.allows("Basic bm9ib2R5OnNlY3JldA=="));                                 // nobody:secret
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(auth.allows("Basic cHJvbWV0aGV1czpzZWNyZXQ="));  // prometheus:secret
    EXPECT_FALSE(auth.allows("Basic cHJvbWV0aGV1czpzZWNyZXQ"));
    EXPECT_TRUE(BasicAuth(std::map<std::string, std::string>{}).allows(""));
}

TEST(BasicAuth, CredentialsAreBase64) {
    EXPECT_EQ(basic_credentials("basic YTpi"), "a:b");
    EXPECT_EQ(basic_credentials("Basic YTpiYw=="), "a:bc");
    EXPECT_FALSE(basic_credentials("Basic YTp!"));
    EXPECT_FALSE(basic_credentials("Basic"));
}

}  // namespace
}  // namespace gpuprof
