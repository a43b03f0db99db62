// Shows a page in the browser, from a server that only this machine can reach, until Ctrl-C.
#pragma once

#include <cstdint>
#include <string>

#include "cli/view/rank_recordings.h"
#include "core/base/exit_code.h"
#include "core/base/result.h"
#include "core/view/document.h"

namespace gpuprof {

inline constexpr char kPortDoc[] = "Port on 127.0.0.1; 0 picks a free one (default: 0).";
inline constexpr char kNoOpenDoc[] = "Print the address without starting a browser.";

struct ServeChoice {
    std::uint16_t port = 0;
    bool open_browser = true;
};

// `name`: of what is shown, for people.
Result<ExitCode> serve_view(ViewPair pair, RankRecordings& ranks, const std::string& name, const ServeChoice& choice);

}  // namespace gpuprof
