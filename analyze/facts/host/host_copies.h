// Copies by kind of source and destination memory.
#pragma once

#include "analyze/facts/stat.h"
#include "core/model/trace.h"

namespace gpuprof::inline facts {

class Facts;

// Classifies single rows of `memcpy`. An unrecorded kind or memory matches no class.
class CopyPaths {
public:
    explicit CopyPaths(const Trace& trace);
    bool stays_on_device(Row copy) const { return is(copies_->kind, copy, device_to_device_); }
    bool to_device(Row copy) const { return is(copies_->kind, copy, host_to_device_); }
    bool to_host(Row copy) const { return is(copies_->kind, copy, device_to_host_); }
    bool host_and_device(Row copy) const { return to_device(copy) || to_host(copy); }
    bool pageable(Row copy) const { return touches(copy, pageable_); }
    bool pinned(Row copy) const { return touches(copy, pinned_); }

private:
    static bool is(const Column<StringId>& column, Row copy, StringId text) {
        return text != kNoString && column.value_or(copy, kNoString) == text;
    }
    bool touches(Row copy, StringId memory) const {
        return is(copies_->src, copy, memory) || is(copies_->dst, copy, memory);
    }
    const MemcpyTable* copies_;
    StringId device_to_device_, host_to_device_, device_to_host_, pageable_, pinned_;
};

// Totals of the copies between host and device.
struct HostCopies {
    DurNs total = 0, pageable = 0, pinned = 0;
    WideSum bytes, pageable_bytes;
    DurNs to_host = 0;  // part of total
    WideSum bytes_to_host;
    std::size_t count = 0;
    double pageable_part() const {  // share of the time, 0..1
        return total > 0 ? static_cast<double>(pageable) / static_cast<double>(total) : 0;
    }
    static HostCopies make(const Facts& facts);
};

}  // namespace gpuprof::facts
