// `record --aggregate`: reads the parts of the recorded processes while the job runs, deletes them, and writes a snapshot of the totals
// every few seconds. One thread of low priority; if the folder of the snapshots hangs, so does this thread, and the job does not.
//
//   DIR/HOST-N.totals   the snapshot (cli/aggregate/totals.h), replaced by rename. N counts the recorders of a host that run at the
//                       same time. A recorder that is started again continues the totals that it finds
//   DIR/.HOST-N.lock    locked by the recorder that owns the number
#pragma once

#include <memory>
#include <string>

#include "core/base/result.h"

namespace gpuprof::inline cli {

class Aggregation {
public:
    static constexpr const char* kSuffix = ".totals";
    enum class Parts { removed, kept, handed_on };  // once they are read; handed_on: as in process_parts.h

    // `into`: an existing folder for the snapshot.
    static Result<Aggregation> open(const std::string& into);
    Aggregation(Aggregation&&) noexcept;
    ~Aggregation();

    // Follows the parts in a folder until finish().
    void start(const std::string& parts, Parts after);
    // Reads what is left and writes the last snapshot; an error if that could not be done, or takes longer than a minute.
    Status finish();
    // The same for the parts of an interrupted recording, without a thread.
    Status read_all(const std::string& parts, Parts after);
    const std::string& file() const;

private:
    struct State;
    explicit Aggregation(std::shared_ptr<State> state);
    std::shared_ptr<State> state_;
};

}  // namespace gpuprof::cli
