#include "cli/serve/web_config.h"

#include <fmt/format.h>
#include <yaml.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>

#include "core/base/ascii.h"

namespace gpuprof::inline cli {
namespace {

constexpr std::size_t kMaxBytes = 1 << 20;

using ClientCertificate = TlsConfig::ClientCertificate;
constexpr std::pair<std::string_view, ClientCertificate> kClientCertificates[] = {
    {"NoClientCert", ClientCertificate::none},
    {"RequestClientCert", ClientCertificate::requested},
    {"RequireAnyClientCert", ClientCertificate::required},
    {"RequireClientCert", ClientCertificate::required},
    {"VerifyClientCertIfGiven", ClientCertificate::verified_if_given},
    {"RequireAndVerifyClientCert", ClientCertificate::required_and_verified},
};
constexpr std::pair<std::string_view, int> kVersions[] = {
    {"TLS10", 0x0301}, {"TLS11", 0x0302}, {"TLS12", 0x0303}, {"TLS13", 0x0304}};

template <class Value, std::size_t kSize>
const Value* value_of(const std::pair<std::string_view, Value> (&table)[kSize], std::string_view name) {
    for (const auto& [known, value] : table)
        if (known == name) return &value;
    return nullptr;
}

struct Document {
    Document() { std::memset(&tree, 0, sizeof tree); }
    ~Document() { yaml_document_delete(&tree); }
    Document(const Document&) = delete;
    Document& operator=(const Document&) = delete;
    yaml_document_t tree;
};

class Reader {
public:
    Reader(Document& document, std::string file) : tree_(&document.tree), file_(std::move(file)) {}

    Result<WebConfig> read() {
        yaml_node_t* root = yaml_document_get_root_node(tree_);
        if (root == nullptr) return config_;  // an empty file requests nothing, as for Prometheus exporters
        Status status = each_of(root, "", [this](const std::string& key, yaml_node_t* value) -> Status {
            if (key == "tls_server_config") return read_tls(value);
            if (key == "basic_auth_users") return read_users(value);
            return refuse(key, value, "gpu-profile supports tls_server_config and basic_auth_users");
        });
        if (!status) return status.error();
        return config_;
    }

private:
    Error wrong(const yaml_node_t* node, const std::string& what) const {
        return {ExitCode::usage, fmt::format("cannot use {}: line {}: {}", file_, node->start_mark.line + 1, what)};
    }
    Error refuse(const std::string& key, const yaml_node_t* node, std::string_view known) const {
        return wrong(node, fmt::format("{} is not supported; remove it ({})", key, known));
    }
    static std::optional<std::string> text_of(const yaml_node_t* node) {
        if (node->type != YAML_SCALAR_NODE) return std::nullopt;
        return std::string(reinterpret_cast<const char*>(node->data.scalar.value), node->data.scalar.length);
    }

    template <class Take>
    Status each_of(const yaml_node_t* node, const std::string& of, Take&& take) {
        if (node->type == YAML_SCALAR_NODE && node->data.scalar.length == 0) return {};  // "key:" without a value
        if (node->type != YAML_MAPPING_NODE)
            return wrong(node, fmt::format("expected a mapping{}", of.empty() ? "" : " in " + of));
        for (auto* pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; ++pair) {
            yaml_node_t* key = yaml_document_get_node(tree_, pair->key);
            yaml_node_t* value = yaml_document_get_node(tree_, pair->value);
            std::optional<std::string> name = text_of(key);
            if (!name) return wrong(key, "expected a name");
            if (Status taken = take(*name, value); !taken) return taken;
        }
        return {};
    }

    Status read_tls(const yaml_node_t* node) {
        TlsConfig tls;
        Status status = each_of(node, "tls_server_config", [&](const std::string& key, yaml_node_t* value) -> Status {
            std::optional<std::string> text = text_of(value);
            auto path = [&] { return (std::filesystem::path(file_).parent_path() / *text).string(); };
            if (text && key == "cert_file") return tls.cert_file = path(), Status{};
            if (text && key == "key_file") return tls.key_file = path(), Status{};
            if (text && key == "client_ca_file") return tls.client_ca_file = path(), Status{};
            if (text && key == "client_auth_type") {
                const ClientCertificate* found = value_of(kClientCertificates, *text);
                if (found == nullptr) return wrong(value, fmt::format("unknown client_auth_type '{}'", *text));
                return tls.client = *found, Status{};
            }
            if (text && key == "min_version") {
                const int* found = value_of(kVersions, *text);
                if (found == nullptr)
                    return wrong(value,
                                 fmt::format("unknown min_version '{}'; expected TLS10, TLS11, TLS12 or TLS13", *text));
                return tls.min_version = *found, Status{};
            }
            return refuse("tls_server_config." + key, value,
                          "gpu-profile supports cert_file, key_file, client_auth_type, client_ca_file, min_version");
        });
        if (!status) return status;
        if (tls.cert_file.empty() || tls.key_file.empty())
            return wrong(node, "tls_server_config needs cert_file and key_file");
        bool verifies = tls.client == ClientCertificate::verified_if_given ||
                        tls.client == ClientCertificate::required_and_verified;
        if (verifies != !tls.client_ca_file.empty())
            return wrong(node, verifies ? "this client_auth_type needs client_ca_file"
                                        : "client_ca_file needs client_auth_type VerifyClientCertIfGiven or "
                                          "RequireAndVerifyClientCert");
        config_.tls = std::move(tls);
        return {};
    }

    Status read_users(const yaml_node_t* node) {
        return each_of(node, "basic_auth_users", [this](const std::string& user, yaml_node_t* value) -> Status {
            std::optional<std::string> hash = text_of(value);
            if (!hash || !bcrypt(*hash))
                return wrong(value, fmt::format("the password of '{}' is not a bcrypt hash with a cost of 4 to 16; "
                                                "create one with htpasswd -nBC 10 '' | tr -d ':\\n'",
                                                user));
            if (user.empty() || user.find(':') != user.npos)
                return wrong(value, "a user name must not be empty or contain a colon");
            config_.users[user] = *hash;
            return {};
        });
    }

    // "$2y$10$" and 53 characters of salt and hash. A higher cost would take seconds for each request.
    static bool bcrypt(std::string_view hash) {
        if (hash.size() != 60 || hash.substr(0, 2) != "$2" || hash[3] != '$' || hash[6] != '$') return false;
        if (std::string_view("abxy").find(hash[2]) == std::string_view::npos) return false;
        int cost = is_digit(hash[4]) && is_digit(hash[5]) ? (hash[4] - '0') * 10 + hash[5] - '0' : 0;
        return cost >= 4 && cost <= 16;
    }

    yaml_document_t* tree_;
    std::string file_;
    WebConfig config_;
};

}  // namespace

Result<WebConfig> parse_web_config(const std::string& yaml, const std::string& file) {
    yaml_parser_t parser;
    if (yaml_parser_initialize(&parser) == 0) return Error{ExitCode::internal, "cannot read YAML: out of memory"};
    std::unique_ptr<yaml_parser_t, void (*)(yaml_parser_t*)> freed(&parser, yaml_parser_delete);
    yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(yaml.data()), yaml.size());
    Document document;
    if (yaml_parser_load(&parser, &document.tree) == 0)
        return Error{ExitCode::usage, fmt::format("cannot use {}: line {}: {}", file, parser.problem_mark.line + 1,
                                                  parser.problem != nullptr ? parser.problem : "not YAML")};
    return Reader(document, file).read();
}

Result<WebConfig> read_web_config(const std::string& file) {
    // Not std::ifstream: libc++ reports a read error, such as that of a folder, as the end of the file, and an empty file
    // means no password.
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "rb"), std::fclose);
    std::string yaml(kMaxBytes + 1, '\0');
    if (stream) yaml.resize(std::fread(yaml.data(), 1, yaml.size(), stream.get()));
    if (!stream || std::ferror(stream.get()) != 0)
        return Error{ExitCode::usage, fmt::format("cannot read {}: {}", file, std::strerror(errno))};
    if (yaml.size() > kMaxBytes)
        return Error{ExitCode::usage, fmt::format("cannot use {}: the file exceeds 1 MiB", file)};
    return parse_web_config(yaml, file);
}

}  // namespace gpuprof::cli
