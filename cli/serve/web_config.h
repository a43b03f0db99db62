// The file of `serve --web-config`, which is that of Prometheus exporters (the web configuration of
// github.com/prometheus/exporter-toolkit): TLS and basic authentication. What of it is not supported is refused by name, never ignored:
// a server that is less protected than its file says must not start.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/base/result.h"

namespace gpuprof {

struct TlsConfig {
    enum class ClientCertificate { none, requested, required, verified_if_given, required_and_verified };
    std::string cert_file, key_file, client_ca_file;  // relative ones are beside the configuration
    ClientCertificate client = ClientCertificate::none;
    int min_version = 0x0303;  // as in the protocol: TLS 1.2
};

struct WebConfig {
    std::optional<TlsConfig> tls;
    std::map<std::string, std::string> users;  // names and bcrypt hashes; empty: no authentication
};

// `file` names the configuration in messages and is where relative paths begin.
Result<WebConfig> parse_web_config(const std::string& yaml, const std::string& file);
Result<WebConfig> read_web_config(const std::string& file);

}  // namespace gpuprof
