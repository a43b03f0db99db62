#include "cli/view/preparation.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>

#include "core/base/caught.h"
#include "core/base/clock.h"
#include "core/base/text/json_writer.h"
#include "io/importers/source/reading_progress.h"

namespace gpuprof::inline cli {

struct Preparation::State {
    std::atomic<ViewStage> stage = ViewStage::reading;
    mutable std::mutex mutex;  // guards what follows
    std::condition_variable made;
    std::optional<Result<ViewContent>> content;
    bool done = false;
};

Preparation::Preparation(MakeContent make) : state_(std::make_shared<State>()), started_(monotonic_ns()) {
    thread_ = std::thread([state = state_, make = std::move(make)] {
        std::optional<Result<ViewContent>> content;
        Status ran = caught([&] { content.emplace(make([&](ViewStage stage) { state->stage = stage; })); });
        if (!ran) content.emplace(ran.error());
        std::lock_guard lock(state->mutex);
        state->content.emplace(std::move(*content));
        state->done = true;
        state->made.notify_all();
    });
}

Preparation::~Preparation() { thread_.join(); }

bool Preparation::wait(std::chrono::milliseconds limit) {
    std::unique_lock lock(state_->mutex);
    return state_->made.wait_for(lock, limit, [this] { return state_->done; });
}

std::optional<Result<ViewContent>> Preparation::take() {
    std::lock_guard lock(state_->mutex);
    return std::exchange(state_->content, std::nullopt);
}

bool Preparation::running() const {
    std::lock_guard lock(state_->mutex);
    return !state_->done;
}

std::string Preparation::progress_json() const {
    const ReadingProgress& files = reading();
    ViewStage stage = state_->stage;
    std::uint64_t size = files.size, read = files.read;
    StringSink sink;
    JsonWriter json(sink);
    json.begin_object();
    json.member("stage", name_of(stage));
    json.key("share");
    if (stage == ViewStage::reading && files.open > 0 && size > 0)
        json.real(std::min(1.0, static_cast<double>(read) / static_cast<double>(size)));
    else
        json.null();
    json.key("elapsed_s");
    json.real(static_cast<double>(monotonic_ns() - started_) / 1e9);
    json.end_object();
    return sink.text();
}

}  // namespace gpuprof::cli
