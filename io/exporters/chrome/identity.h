// The numbers by which Chrome's trace format names processes and threads. A trace names them by keys, which may be any
// text; here each key gets its process or thread id if that is known and unique, otherwise an unused number.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "core/model/trace.h"

namespace gpuprof::inline exporters {

struct HostId {
    std::int64_t pid = 0, tid = 0;
};

class ChromeIdentity {
public:
    explicit ChromeIdentity(const Trace& trace);

    // For a key of `process` or `thread`; a key without a row has pid -1, Kineto's number for unknown processes.
    std::int64_t process(StringId key) const;
    HostId thread(StringId key) const;

private:
    std::map<StringId, std::int64_t> processes_;
    std::map<StringId, HostId> threads_;
};

}  // namespace gpuprof::exporters
