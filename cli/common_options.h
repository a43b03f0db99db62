// The command-line parts that commands for recordings share: FILE, the options of analyses (core/schema/options.def),
// and the limits for reading.
#pragma once

#include <string>

#include "cli/command_options.h"
#include "core/schema/options.h"
#include "core/schema/read_limits.h"

namespace gpuprof::inline cli {

// Declares one flag per option. `options` must outlive the parsing.
void declare_options(CommandLine& line, Options& options);
// Of a command that reads only these; the others are errors that name the analyses that read them.
void declare_options(CommandLine& line, Options& options, OptionSet read);

inline constexpr const char* kReadLimitsGroup = "Limits of reading";
// The same for the limits of reading (core/schema/read_limits.def): --unpack-ratio, --pipe-wait, ...
void declare_read_limits(CommandLine& line, ReadLimits& limits);

// The description of FILE arguments, and the test for words that name a recording.
inline constexpr const char* kRecordingDoc =
    "Recording of any supported tool, or a folder of recordings; - reads standard input.";
inline constexpr const char* kRecordingsDoc =
    "Recordings of any supported tool, or folders of them; several are the processes of one job. - reads standard "
    "input.";

// Whether `word` names a recording: standard input or an existing path.
bool is_path(const std::string& word);

}  // namespace gpuprof::cli
