// What no device can have done: the same work twice, and the next work of a stream before the last has ended. It is repaired before
// anything is computed from it, and counted as a loss.
#pragma once

#include <cstdint>
#include <string>

namespace gpuprof::inline base {
class StringPool;
}

namespace gpuprof::inline model {

struct Batch;
struct Links;
struct Tables;

// For sorted tables. Removes exact copies of device ops and calls (equal in every column), and if there are any, those of all other
// tables, because a file that repeats its events repeats all of them.
void remove_copied_events(Tables& tables, Batch& losses);

struct Overruns {
    std::uint64_t cut = 0;  // ops; their tables are to be sorted and linked again
    std::string no_verdict =
        {};  // why nothing can be concluded from the device's times, as a sentence; "" if they are a small part
};

// Ops of one kind have one clock, even where copies have another than kernels.
enum class Compared { same_kind, all };

// For sorted and linked tables. The ops of a stream run one after another. Exempt are the nodes of one graph launch, which have
// branches, and an op that starts a little before its predecessor ends and ends after it (programmatic dependent launch). An op that
// runs over others by more is cut where the next op of its stream starts, which is the latest that it can have ended; the last op of
// a stream, where a call that waited for it returned.
Overruns cut_overruns(Tables& tables, const Links& links, const StringPool& strings, Compared compared, Batch& losses);

}  // namespace gpuprof::model
