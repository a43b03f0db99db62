// The annotations of one process as ranges: pushes and pops per thread and domain, starts and ends by handle, marks.
// Another thread may name texts, domains and categories later in the file, so rows are created at the end. Annotations
// that a killed process left open end at its last known time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/format/spool.h"
#include "core/model/build/trace_builder.h"

namespace gpuprof::inline importers {

class SpoolAnnotations {
public:
    explicit SpoolAnnotations(Batch& batch) : batch_(batch) {}
    void add(std::uint32_t thread, const spool::HostEvent& event, std::string_view text);
    // Ends what is open on all threads at `time`: what follows was recorded later, after a stretch that is gone.
    void interrupt(TimeNs time);
    // Ends open annotations at `last` and creates the rows. `thread_key` returns the key of a thread.
    void finish(TimeNs last, const std::function<StringId(std::uint32_t)>& thread_key);
    // Names given to threads and streams.
    const std::map<std::uint32_t, StringId>& thread_names() const { return thread_names_; }
    const std::map<std::uint32_t, StringId>& stream_names() const { return stream_names_; }

private:
    struct Attributes {
        std::uint64_t category = 0;
        std::optional<double> payload;
    };
    struct Open {
        TimeNs start;
        StringId text;
        std::uint64_t handle;  // of the registered text, if `text` is absent
        std::uint64_t domain;
        Attributes about;
    };
    struct Closed {
        std::uint32_t thread;
        Open open;
        TimeNs end;
    };
    void reset(std::uint32_t thread, TimeNs time);
    void close(std::uint32_t thread, const Open& open, TimeNs end) {
        closed_.push_back({thread, open, std::max(end, open.start)});
    }

    Batch& batch_;
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<Open>> stacks_;  // by thread and domain
    std::map<std::uint64_t, std::pair<std::uint32_t, Open>> started_;              // by range
    std::map<std::uint32_t, std::vector<std::uint64_t>> started_by_;               // by thread; some have ended
    std::map<std::uint32_t, Attributes> about_next_;                               // by thread
    std::unordered_map<std::uint64_t, StringId> texts_, domains_;
    std::map<std::pair<std::uint64_t, std::uint64_t>, StringId> categories_;  // by domain and number
    std::map<std::uint32_t, StringId> thread_names_, stream_names_;
    std::vector<Closed> closed_;
};

}  // namespace gpuprof::importers
