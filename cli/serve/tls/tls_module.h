// The interface of libgpuprof_tls.so: TLS connections for an endpoint over libevent. It is a separate module, loaded
// only if `serve` is given a certificate, because OpenSSL would add 2 ms to every start of the program (decision 0019).
// It uses the program's libevent, whose functions the program exports (libevent_symbols.txt), and the machine's
// OpenSSL.
#pragma once

#include <cstddef>

struct bufferevent;
struct event_base;

extern "C" {

struct gpuprof_tls_options {
    const char *cert_file, *key_file, *client_ca_file;  // client_ca_file: "" for none
    int min_version;                                    // 0x0303 is TLS 1.2
    int asks_client, needs_client, verifies_client;     // a client certificate is requested, required, verified
};
struct gpuprof_tls;

// Null if the files cannot be used; `error` says why.
gpuprof_tls* gpuprof_tls_open(const gpuprof_tls_options* options, char* error, std::size_t size);
// A connection to be accepted; null if out of memory.
bufferevent* gpuprof_tls_stream(gpuprof_tls* tls, event_base* base);
void gpuprof_tls_close(gpuprof_tls* tls);
}
