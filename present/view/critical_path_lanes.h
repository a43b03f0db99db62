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
    Interval time;
    TimeNs event_start = 0;
    std::uint32_t lane = 0;  // index in threads or, of device work, in streams
    PathClass what;
    // The event that it belongs to: device work on a stream, or a call of a thread. None: host code of a thread.
    SliceTable table = SliceTable::none;
};

struct ViewPath {
    std::vector<std::string> threads;                            // keys
    std::vector<std::pair<std::int32_t, std::int64_t>> streams;  // device, stream
    PodVector<ViewPathSpan> spans;                               // last first; a long recording has millions
    std::array<DurNs, kPathClasses> by_class{};
    DurNs total = 0;  // 0: the replay of this recording abstains
};

ViewPath view_path(const Facts& facts);

// `trace` is the whole recording and counts from zero. Spans whose event is not on a track are omitted.
void add_critical_path(const ViewPath& path, const Trace& trace, Scene& scene);

}  // namespace gpuprof::view
