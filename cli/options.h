// What commands that read recordings share on the command line: FILE, the options of analyses (core/schema/options.def) and the limits
// of reading.
#pragma once

#include <string>

#include "cli/command_line.h"
#include "core/schema/options.h"
#include "core/schema/read_limits.h"

namespace gpuprof {

// One flag per declared option, filling `options`, which must outlive the parsing.
void declare_options(CommandLine& line, Options& options);

// The same of the limits of reading (core/schema/read_limits.def): --unpack-ratio, --pipe-wait, ...
void declare_read_limits(CommandLine& line, ReadLimits& limits);

// Recordings on the command line: how FILE is described, and which words name one.
inline constexpr const char* kRecordingDoc =
    "A recording of any supported tool, or a folder of several; - is standard input.";
inline constexpr const char* kRecordingsDoc =
    "Recordings of any supported tool, or folders of them; several are the processes of one job. - is standard input.";

// Whether `word` is a recording rather than another word of the command line: it is there.
bool is_path(const std::string& word);

}  // namespace gpuprof
