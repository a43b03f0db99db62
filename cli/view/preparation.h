// What a page shows, prepared on a separate thread, so that the server answers from the start: a large recording takes
// many seconds to read and analyse. The owner asks for the result when it wants to; nothing is called back.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "cli/view/content.h"
#include "core/base/ids.h"
#include "core/base/result.h"

namespace gpuprof::inline cli {

using MakeContent = std::function<Result<ViewContent>(const StageReport&)>;

class Preparation {
public:
    explicit Preparation(MakeContent make);
    ~Preparation();
    Preparation(const Preparation&) = delete;
    Preparation& operator=(const Preparation&) = delete;

    // Waits until the content is made, but no longer than `limit`; whether it is.
    bool wait(std::chrono::milliseconds limit);
    // The content, or why there is none; absent while it is being made, and after it was taken.
    std::optional<Result<ViewContent>> take();
    bool running() const;
    // {"stage", "share", "elapsed_s"}, as the page receives it.
    std::string progress_json() const;

private:
    struct State;
    std::shared_ptr<State> state_;
    TimeNs started_;
    std::thread thread_;
};

}  // namespace gpuprof::cli
