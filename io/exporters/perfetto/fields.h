// Numbers of the Perfetto trace format fields that the exporter writes. Source: protos/perfetto/trace of
// github.com/google/perfetto (trace_packet, track_descriptor, track_event, interned_data, clock_snapshot).
#pragma once

#include <cstdint>

namespace gpuprof::inline exporters::perfetto {

using Tag = std::uint32_t;

namespace trace {
inline constexpr Tag packet = 1;
}
namespace packet {
inline constexpr Tag clock_snapshot = 6, timestamp = 8, sequence = 10, track_event = 11, interned_data = 12,
                     sequence_flags = 13, timestamp_clock = 58, defaults = 59, track_descriptor = 60,
                     first_on_sequence = 87;
inline constexpr std::uint32_t kStateCleared = 1, kNeedsState = 2;  // of sequence_flags
}  // namespace packet
namespace track {
inline constexpr Tag uuid = 1, name = 2, process = 3, thread = 4, parent = 5, counter = 8;
inline constexpr Tag process_pid = 1, process_command = 2, process_name = 6;  // of process
inline constexpr Tag thread_pid = 1, thread_tid = 2, thread_name = 5;         // of thread
inline constexpr Tag counter_unit_name = 6;                                   // of counter
}  // namespace track
namespace event {
inline constexpr Tag category = 3, annotation = 4, type = 9, name = 10, track = 11, real_value = 44, flow = 47;
inline constexpr std::int32_t kBegin = 1, kEnd = 2, kCounter = 4;                        // of type
inline constexpr Tag annotation_name = 1, annotation_integer = 4, annotation_text = 17;  // of annotation
}  // namespace event
namespace interned {
inline constexpr Tag categories = 1, names = 2, annotation_names = 3, annotation_texts = 29;
inline constexpr Tag id = 1, text = 2;  // of each of them
}  // namespace interned
namespace clocks {
inline constexpr Tag clock = 1;                                          // of a snapshot
inline constexpr Tag id = 1, timestamp = 2, is_incremental = 3;          // of a clock
inline constexpr std::uint32_t kRealtime = 1, kBoottime = 6, kOwn = 64;  // ids; the last is the sequence's own
}  // namespace clocks
namespace defaults {
inline constexpr Tag event = 11, timestamp_clock = 58;
}

}  // namespace gpuprof::exporters::perfetto
