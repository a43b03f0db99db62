// Builds a Trace from batches of rows. Importers fill one or more Batches (on several threads: a Batch owns its
// strings), append them in input order and finish. finish() repairs what the conventions allow (counted as losses),
// sorts, links and freezes; all decisions about order and joins are made here, none in importers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/model/build/batch.h"
#include "core/model/build/skipped_times.h"
#include "core/model/trace.h"
#include "core/schema/losses.h"

namespace gpuprof::inline model {

class TraceBuilder {
public:
    // The trace has the columns that are `selected`; of tables without any, only the window of the trace knows.
    explicit TraceBuilder(Origin origin, ColumnSelection selected = {}) : selected_(std::move(selected)) {
        trace_.origin_ = std::move(origin);
    }

    // What importers need to read; append() drops the rest, if they read it anyway.
    const ColumnSelection& selected() const { return selected_; }

    // Takes the rows of `batch`, in order. The batch is empty afterwards.
    void append(Batch&& batch);
    // The first call wins: in a recording of several parts, the tool that joined them.
    void set_tool(std::string tool) {
        if (trace_.origin_.tool.empty()) trace_.origin_.tool = std::move(tool);
    }
    // An offset added to every time of the appended rows, for recorders whose times are relative to a base. The
    // importer ensures that times and base stay within 2^61 ns of zero.
    void set_time_base(TimeNs base) { time_base_ = base; }
    void set_meta(std::string_view key, std::string_view value);
    void lose(Loss loss, std::string_view place, std::uint64_t count = 1) { rest_.lose(loss, place, count); }

    // The finished trace. Never fails on bad rows; those become losses of the trace.
    Trace finish() &&;

private:
    // The second part of the check is still to be done.
    std::unique_ptr<CompletenessCheck> link_believable_work();
    void find_window(TimeNs middle);

    Trace trace_;
    ColumnSelection selected_;
    SkippedTimes skipped_;
    TimeNs time_base_ = 0;
    Batch rest_;         // rows created here: meta and losses
    bool empty_ = true;  // no batch was appended yet; the first one is moved, not copied
};

}  // namespace gpuprof::model
