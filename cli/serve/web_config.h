// The file of `serve --web-config`: the web configuration of Prometheus exporters
// (github.com/prometheus/exporter-toolkit), with TLS and basic authentication. Unsupported settings are refused by
// name, never ignored: a server must not start with less protection than its file describes.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/base/result.h"

namespace gpuprof::inline cli {

struct TlsConfig {
    enum class ClientCertificate { none, requested, required, verified_if_given, required_and_verified };
    std::string cert_file, key_file, client_ca_file;  // relative paths start at the configuration file
    ClientCertificate client = ClientCertificate::none;
    int min_version = 0x0303;  // protocol number: TLS 1.2
};

struct WebConfig {
    std::optional<TlsConfig> tls;
    std::map<std::string, std::string> users;  // names and bcrypt hashes; empty: no authentication
};

// `file` names the configuration in messages, and relative paths start at its folder.
Result<WebConfig> parse_web_config(const std::string& yaml, const std::string& file);
Result<WebConfig> read_web_config(const std::string& file);

}  // namespace gpuprof::cli
