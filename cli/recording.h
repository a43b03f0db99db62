// Recordings on the command line: how FILE is described, and which words name one.
#pragma once

#include <string>

namespace gpuprof {

inline constexpr const char* kRecordingDoc =
    "A recording of any supported tool, or a folder of several; - is standard input.";
inline constexpr const char* kRecordingsDoc =
    "Recordings of any supported tool, or folders of them; several are the processes of one job. - is standard input.";

// Whether `word` is a recording rather than another word of the command line: it is there.
bool is_path(const std::string& word);

}  // namespace gpuprof
