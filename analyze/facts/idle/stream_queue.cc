#include "analyze/facts/idle/stream_queue.h"

namespace gpuprof::inline facts {

std::vector<std::pair<TimeNs, std::int64_t>> queue_lengths(std::vector<QueueChange>& changes) {
    std::sort(changes.begin(), changes.end());
    std::vector<std::pair<TimeNs, std::int64_t>> lengths;
    lengths.reserve(changes.size());
    std::int64_t length = 0;
    for (const QueueChange& change : changes) {
        length += change.by;
        if (!lengths.empty() && lengths.back().first == change.time)
            lengths.back().second = length;
        else
            lengths.emplace_back(change.time, length);
    }
    return lengths;
}

}  // namespace gpuprof::facts
