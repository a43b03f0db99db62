// `record --os-calls`: the option, and the logs that the preloaded library (collect/os_calls) left in the folder of a
// recording, read when the command has ended and written as one more part.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "cli/command_options.h"
#include "collect/launch/injection.h"
#include "core/base/result.h"
#include "core/schema/recorder_settings.h"

namespace gpuprof::inline cli {

struct OsCallArguments {
    std::optional<std::string> least;  // in ms, as the user wrote it; "": the default; absent: the option was not given
};
void declare_os_calls(CommandLine& line, OsCallArguments& arguments);

// The shortest call that is recorded, in ns; 0 if the option was not given.
Result<std::int64_t> os_calls_least_ns(const OsCallArguments& arguments);

// The library's place for LD_PRELOAD; absent if it cannot be preloaded, which a note says.
std::optional<PreloadPath> os_calls_preload();

// What the processes of a recording share (collect/os_calls/os_call_log.h): a file in its folder, and a descriptor of it that programs inherit, for
// those that may not open the file any more.
class OsCallShare {
public:
    static Result<OsCallShare> make(const std::string& folder, std::int64_t least_ns);
    OsCallShare(OsCallShare&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
    OsCallShare& operator=(OsCallShare&&) = delete;
    ~OsCallShare();

    // How programs find it.
    void describe_to(RecorderSettings& settings) const;

private:
    explicit OsCallShare(int file) : file_(file) {}
    int file_;
};

// Turns the logs in `folder`, and what was counted without one, into a part of the recording. Does nothing if there are none, and leaves
// them if the part could not be written.
Status write_os_calls(const std::string& folder);

}  // namespace gpuprof::cli
