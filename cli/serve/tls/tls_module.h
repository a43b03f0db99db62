// What libgpuprof_tls.so offers: connections with TLS for an endpoint over libevent. A module of its own, loaded when `serve`
// is given a certificate, because OpenSSL costs every start of the program 2 ms otherwise (decision 0019). It uses the
// program's libevent, whose functions the program exports to it (libevent_symbols.txt), and the machine's OpenSSL.
#pragma once

#include <cstddef>

struct bufferevent;
struct event_base;

extern "C" {

struct gpuprof_tls_options {
    const char *cert_file, *key_file, *client_ca_file;  // client_ca_file: "" for none
    int min_version;                                    // 0x0303 is TLS 1.2
    int asks_client, needs_client, verifies_client;     // for a certificate
};
struct gpuprof_tls;

// Null, and why in `error`, when the files cannot be used.
gpuprof_tls* gpuprof_tls_open(const gpuprof_tls_options* options, char* error, std::size_t size);
// A connection that is to be accepted; null without memory.
bufferevent* gpuprof_tls_stream(gpuprof_tls* tls, event_base* base);
void gpuprof_tls_close(gpuprof_tls* tls);
}
