#include "collect/inject/steps/step_keeper.h"

#include <cstdlib>
#include <limits>
#include <new>

#include "collect/inject/settings.h"
#include "core/base/clock.h"

namespace gpuprof::inject {
namespace {

// Kept before the time from which on everything is needed: a step may have begun without our knowing yet.
constexpr std::int64_t kMargin = 1'000'000'000;

Moment earlier(Moment moment, std::int64_t by) noexcept { return {moment.real - by, moment.steady - by}; }

}  // namespace

StepKeeper* StepKeeper::make(const SpoolFile& file) noexcept {
    if (settings().keep_slow <= 0) return nullptr;
    void* memory = std::calloc(1, sizeof(StepKeeper));
    if (memory == nullptr) return nullptr;
    auto* keeper = new (memory) StepKeeper;
    keeper->part_.first = file.created_at();
    keeper->steps_.start(settings().keep_slow, settings().trigger);
    return keeper->parts_.start(static_cast<std::uint64_t>(settings().ring_bytes)) ? keeper : nullptr;
}

void StepKeeper::take_events(StepWatch& watch) noexcept {
    watch.take_events([this](const StepEvent& event) { steps_.take(event); });
}

void StepKeeper::write(SpoolFile& file, const StepWatch& watch, bool ended) noexcept {
    spool::StepsSeen seen = steps_.seen();
    Moment now = Moment::now();
    seen.since = ended ? 0 : earlier(steps_.since(now), kMargin).real;
    seen.reported = now.real;
    seen.nested = watch.nested();
    seen.unjudged += watch.missed();
    seen.stuck = stuck_;
    bytes_.clear();
    bool whole = bytes_.add(seen);
    for (std::size_t i = 0; i < steps_.series(); ++i) whole = bytes_.add(steps_.series(i)) && whole;
    for (std::size_t i = 0; i < steps_.kept(); ++i) whole = bytes_.add(steps_.kept(i)) && whole;
    if (whole && file.write(ChunkKind::spool_steps, bytes_.view())) written_ = steps_.selections();
}

bool StepKeeper::part_ends(const SpoolFile& file, std::int64_t began, std::int64_t now) const noexcept {
    return now - tried_ >= PartRing::kMinLength && PartRing::ends(steps_, began, file.bytes(), now);
}

bool StepKeeper::turn(SpoolFile& file, const char* folder, std::int64_t began) noexcept {
    std::int64_t now = tried_ = monotonic_ns();
    PartRing::Part done{file.created_at(), began, now, file.bytes()};
    bool turned = !parts_.full() && file.next(folder, true);
    turned ? ++part_.number : ++stuck_;
    if (turned) parts_.add(done);
    parts_.discard(folder, steps_, earlier(steps_.since(Moment::now()), kMargin).steady);
    return turned;
}

void StepKeeper::finish(const char* folder, bool recorded) noexcept {
    if (recorded) steps_.finish(Moment::now());
    parts_.discard(folder, steps_, std::numeric_limits<std::int64_t>::max());
}

}  // namespace gpuprof::inject
