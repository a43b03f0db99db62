// Shows a page in the browser, from a server that only this machine can reach, until Ctrl-C. The address is printed when
// the content is ready, or after a second: what takes longer is prepared while the page shows how far it is.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cli/view/content.h"
#include "core/base/exit_code.h"
#include "core/base/result.h"

namespace gpuprof::inline cli {

inline constexpr char kPortDoc[] = "Port on 127.0.0.1; 0 picks a free one (default: 0).";
inline constexpr char kNoOpenDoc[] = "Print the address without starting a browser.";

struct ServeChoice {
    std::uint16_t port = 0;
    bool open_browser = true;
};

using MakeContent = std::function<Result<ViewContent>(const StageReport&)>;

// `name`: of what is shown, for people.
Result<ExitCode> serve_view(MakeContent make, const std::string& name, const ServeChoice& choice);

}  // namespace gpuprof::cli
