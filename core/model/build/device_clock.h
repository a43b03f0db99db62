// Clocks of devices that are wrong: by cause and effect, no work starts before the call that submitted it, and none ends after a call
// that waited for it has returned.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"

namespace gpuprof::inline base {
class StringPool;
}

namespace gpuprof::inline model {

struct Batch;
struct Links;
struct Tables;

// The error of one device's clock: the true time of its work is the recorded one plus something from `min_error` to `max_error`.
// Each piece of work gives bounds; a few that lie far from all others are records with bogus times and count for nothing.
class ClockError {
public:
    void at_least(DurNs error) { least_.push_back(error); }
    void at_most(DurNs error) { most_.push_back(error); }
    // Absent: unbounded on that side. They may contradict each other, if the clock drifts.
    std::optional<DurNs> min_error() const;
    std::optional<DurNs> max_error() const;
    // The same with the bounds that lie far from all others.
    std::optional<DurNs> min_error_of_all() const;

private:
    std::vector<DurNs> least_, most_;
};

// Copies to the host return when they are done, except the asynchronous ones. Copies to the device may return when their bytes are
// staged.
bool returns_when_copied(std::string_view call, std::string_view kind_of_copy);
bool waits_for_stream(std::string_view call);
bool waits_for_device(std::string_view call);

struct EarlyWork {
    bool moved = false;  // the tables of device ops are to be sorted and linked again
    std::string no_verdict =
        {};  // why nothing can be concluded from the device's times, as a sentence; "" if they can be believed
};

// Whether some work starts before its call or ends after a wait for it. For linked tables, which stay as they are.
bool clocks_are_doubtful(Tables& tables, const Links& links, const StringPool& strings);

// For linked tables. Moves the work of a device, or one kind of it, by the least time that puts effects after their causes and before
// the return of calls that waited for them, if there is one that contradicts nothing. What then still starts before its call is moved
// there. Both are counted as losses.
EarlyWork align_device_clocks(Tables& tables, const Links& links, const StringPool& strings, Batch& losses);

}  // namespace gpuprof::model
