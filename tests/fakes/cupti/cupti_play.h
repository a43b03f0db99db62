// Plays a script: its lanes deliver on threads of their own what the client wants. Options, words between spaces:
//
//   inline          deliver in the order of the script on the calling thread (whose external ids go along)
//   copies=N        N sets of the script's lanes at once, each with correlation ids of its own
//   first=N         the number of the first set, when several plays run at once (default 0)
//   repeat=N        the script N times over, each with correlation ids of its own
//   time=recorded   times as recorded (the default)
//   time=start      moved: the first start is now
//   time=paced      moved, and each record is delivered not before its end has come
//   renames         with inline: before each repetition but the first, all buffers go back and kernel names change in place
//                   ("1emm_naive", "2emm_naive", ...), as when a module goes and another takes its address
//   live            process and thread ids of who delivers instead of the recorded ones
#pragma once

#include <cstdint>
#include <string>

#include "tests/fakes/cupti/cupti_script.h"

namespace fake_cupti {

// 0, or 1 for options that are not understood.
int play(const Script& script, const std::string& options);
// The script that was played last; null: none yet.
const Script* last_played();
// One call of an API function now on this thread: callbacks and a record.
void call_function(std::uint32_t domain, std::uint32_t cbid);

}  // namespace fake_cupti
