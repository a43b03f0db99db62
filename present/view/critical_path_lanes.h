// The critical path of the answer as lanes: on each row that it runs through, one for each class of its parts. They lie over the
// lanes of events and come after them in the scene, so that the numbers of those stay.
#pragma once

#include <string>
#include <vector>

#include "analyze/replay/critical_path.h"
#include "present/view/scene.h"

namespace gpuprof::inline view {

// Times count from the start of the recording.
struct ViewPathSpan {
    PathClass what;
    Interval time;
    // The event that it belongs to: device work on a stream, or a call of a thread. None: host code of a thread.
    SliceTable table = SliceTable::none;
    TimeNs event_start = 0;
    std::int32_t device = -1;
    std::int64_t stream = -1;
    std::size_t thread = 0;  // index in threads
};

struct ViewPath {
    std::vector<std::string> threads;  // keys
    std::vector<ViewPathSpan> spans;   // last first
    std::array<DurNs, kPathClasses> by_class{};
    DurNs total = 0;  // 0: the replay of this recording abstains
};

ViewPath view_path(const Facts& facts);

// `trace` is the whole recording and counts from zero. Spans whose event is not on a track are omitted.
void add_critical_path(const ViewPath& path, const Trace& trace, Scene& scene);

}  // namespace gpuprof::view
