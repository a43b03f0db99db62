// The folder of `record --standby -o DIR`, which all ranks and hosts of a job may share. No file in it is ever appended to: files are
// replaced by rename, so that a reader sees an old or a new one, and a process that is killed leaves none half written.
//
//   DIR/control                            the newest request (core/format/control.h), by `trigger` or the program itself
//   DIR/standby/HOST-PID                   what one launcher knows of its processes, rewritten when it changes and every few seconds
//   DIR/t0001/HOST-rRANK-PID.gpuprof       the captures of the first trigger
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/format/control.h"

namespace gpuprof::inline launch {

// What to ask for; `open` is CLOCK_REALTIME in ns, 0: as soon as all ranks can know it.
struct TriggerWish {
    std::int64_t open = 0, seconds_ns = 0, steps = 0;
    std::int64_t last_ns = 0;  // the time until now, instead of one to come
    std::string ranks = "*";
};
// Numbers the trigger and writes its request. An error if nobody is in standby, or if another trigger is in progress.
Result<control::Request> request_trigger(const std::string& folder, const TriggerWish& wish);
// Ends the one in progress; an error if there is none.
Result<control::Request> request_stop(const std::string& folder);

// The name of this machine as a word of file names and lines.
std::string host_word();
// "t0001"
std::string trigger_folder(std::int64_t number);
// Whether a process has ended. A zombie has: its parent may never ask for it.
bool has_ended(std::int64_t pid);
Status write_request_file(const std::string& file, const control::Request& request);
Status replace_file(const std::string& file, const std::string& content);

// What a launcher says of one process, and of its capture if it has one.
struct ProcessState {
    control::Report report;
    std::string capture = {};  // below DIR; "" if there is none (yet)
    bool ended = false;
};
struct LauncherState {
    std::string host;
    std::int64_t pid = 0, updated = 0;  // CLOCK_REALTIME in ns
    bool ended = false, synchronised = false;
    std::int64_t refused = 0;    // control files in DIR
    std::int64_t keep_last = 0;  // ns; 0: it records nothing before a trigger
    std::vector<ProcessState> processes;

    bool alive() const;
};
std::string encode(const LauncherState& state);
std::optional<LauncherState> parse_launcher_state(std::string_view text);
std::vector<LauncherState> read_launchers(const std::string& folder);
std::string launcher_file(const std::string& folder, const std::string& host, std::int64_t pid);

}  // namespace gpuprof::launch
