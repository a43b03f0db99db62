// TLS connections, from libgpuprof_tls.so next to the program (cli/serve/tls/tls_module.h).
#pragma once

#include "cli/http/connections.h"
#include "cli/serve/web_config.h"

namespace gpuprof::inline cli {

// Loads the module, the machine's OpenSSL and the files named in the configuration.
Result<MakeStream> tls_streams(const TlsConfig& config);

}  // namespace gpuprof::cli
