#include "cli/serve/tls_streams.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <memory>

#include "cli/serve/tls/tls_module.h"
#include "core/base/path_search.h"

namespace gpuprof::inline cli {

Result<MakeStream> tls_streams(const TlsConfig& config) {
    std::string file = installed_file("libgpuprof_tls.so");
    if (file.empty())
        return Error{
            ExitCode::not_permitted,
            "cannot serve with TLS: libgpuprof_tls.so not found next to the program; build with libssl-dev, or remove "
            "tls_server_config"};
    void* module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) {
        const char* reason = dlerror();
        return Error{ExitCode::not_permitted, fmt::format("cannot serve with TLS: {}; install OpenSSL 3 (libssl3)",
                                                          reason != nullptr ? reason : "cannot load the module")};
    }
    auto* open = reinterpret_cast<decltype(&gpuprof_tls_open)>(dlsym(module, "gpuprof_tls_open"));
    auto* stream = reinterpret_cast<decltype(&gpuprof_tls_stream)>(dlsym(module, "gpuprof_tls_stream"));
    auto* close = reinterpret_cast<decltype(&gpuprof_tls_close)>(dlsym(module, "gpuprof_tls_close"));
    if (open == nullptr || stream == nullptr || close == nullptr)
        return Error{ExitCode::internal,
                     fmt::format("cannot serve with TLS: {} belongs to another version; reinstall gpu-profile", file)};
    using Client = TlsConfig::ClientCertificate;
    gpuprof_tls_options options{};
    options.cert_file = config.cert_file.c_str();
    options.key_file = config.key_file.c_str();
    options.client_ca_file = config.client_ca_file.c_str();
    options.min_version = config.min_version;
    options.asks_client = config.client != Client::none;
    options.needs_client = config.client == Client::required || config.client == Client::required_and_verified;
    options.verifies_client =
        config.client == Client::verified_if_given || config.client == Client::required_and_verified;
    char why[256] = "";
    std::shared_ptr<gpuprof_tls> tls(open(&options, why, sizeof why), [close](gpuprof_tls* of) {
        if (of != nullptr) close(of);
    });
    if (!tls) return Error{ExitCode::usage, fmt::format("cannot use tls_server_config: {}", why)};
    return MakeStream([tls, stream](event_base* base) { return stream(tls.get(), base); });
}

}  // namespace gpuprof::cli
