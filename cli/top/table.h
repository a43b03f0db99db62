// The output of top without a terminal: devices and processes as plain tables.
#pragma once

#include <map>
#include <string>

#include "cli/live/live_state.h"
#include "core/base/files/sink.h"
#include "present/report/report.h"

namespace gpuprof::inline cli {

// `names`: process names by pid.
void write_top_tables(const LiveState& state, TimeNs now, const std::map<std::int64_t, std::string>& names,
                      const Style& style, Sink& sink);

}  // namespace gpuprof::cli
