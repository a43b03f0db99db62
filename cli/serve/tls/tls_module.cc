#include "cli/serve/tls/tls_module.h"

#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/thread.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cstdio>
#include <memory>

// libevent's table of locks, which stays unset because the endpoint has one thread. Debian's static archive expects it
// in the same linked object, so the module needs its own copy.
extern "C" [[gnu::visibility("hidden")]] evthread_lock_callbacks evthread_lock_fns_;
evthread_lock_callbacks evthread_lock_fns_{};

namespace {

struct FreeContext {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};

int accept_any(int, X509_STORE_CTX*) { return 1; }

// Refuse keys that need a passphrase: a server cannot prompt for it.
int no_passphrase(char*, int, int, void*) { return -1; }

const char* prepare(SSL_CTX* context, const gpuprof_tls_options& options) {
    SSL_CTX_set_default_passwd_cb(context, no_passphrase);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_COMPRESSION);
    if (SSL_CTX_set_min_proto_version(context, options.min_version) != 1) return "min_version";
    if (options.min_version < TLS1_2_VERSION) SSL_CTX_set_security_level(context, 0);  // TLS 1.1 needs SHA-1
    if (SSL_CTX_use_certificate_chain_file(context, options.cert_file) != 1) return "cert_file";
    if (SSL_CTX_use_PrivateKey_file(context, options.key_file, SSL_FILETYPE_PEM) != 1) return "key_file";
    if (SSL_CTX_check_private_key(context) != 1) return "key_file does not belong to cert_file";
    const unsigned char kSessions[] = "gpu-profile";
    SSL_CTX_set_session_id_context(context, kSessions, sizeof kSessions - 1);
    if (options.asks_client == 0) return nullptr;
    if (options.verifies_client != 0) {
        if (SSL_CTX_load_verify_locations(context, options.client_ca_file, nullptr) != 1) return "client_ca_file";
        SSL_CTX_set_client_CA_list(context, SSL_load_client_CA_file(options.client_ca_file));
    }
    int mode = SSL_VERIFY_PEER | (options.needs_client != 0 ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0);
    SSL_CTX_set_verify(context, mode, options.verifies_client != 0 ? nullptr : accept_any);
    return nullptr;
}

}  // namespace

struct gpuprof_tls {
    std::unique_ptr<SSL_CTX, FreeContext> context;
};

gpuprof_tls* gpuprof_tls_open(const gpuprof_tls_options* options, char* error, std::size_t size) {
    auto tls = std::make_unique<gpuprof_tls>();
    tls->context.reset(SSL_CTX_new(TLS_server_method()));
    const char* problem = tls->context ? prepare(tls->context.get(), *options) : "OpenSSL";
    if (problem == nullptr) return tls.release();
    const char* reason = ERR_reason_error_string(ERR_peek_error());
    std::snprintf(error, size, "%s: %s", problem, reason != nullptr ? reason : "refused");
    return nullptr;
}

bufferevent* gpuprof_tls_stream(gpuprof_tls* tls, event_base* base) {
    SSL* connection = SSL_new(tls->context.get());
    if (connection == nullptr) return nullptr;
    // Frees `connection` even on failure.
    bufferevent* stream =
        bufferevent_openssl_socket_new(base, -1, connection, BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE);
    if (stream != nullptr) bufferevent_openssl_set_allow_dirty_shutdown(stream, 1);
    return stream;
}

void gpuprof_tls_close(gpuprof_tls* tls) { delete tls; }
