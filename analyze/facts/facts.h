// Facts about one recording. Each is computed from the trace and lower facts only, on first use, and cached.
// A fact is a type with `static Fact make(const Facts&)`; code that includes its header gets it with
// `facts.get<Fact>()`. Facts cannot depend on each other in a cycle, because the header of a fact includes only headers
// of lower facts (checked by tools/check_layers.py). Several threads may call get() at once; results do not depend on
// the order.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <typeindex>

#include "core/model/trace.h"
#include "core/schema/options.h"

namespace gpuprof::inline facts {

class Facts {
public:
    // `trace` must outlive the facts.
    Facts(const Trace& trace, Options options) : trace_(trace), options_(std::move(options)) {}
    Facts(const Facts&) = delete;
    Facts& operator=(const Facts&) = delete;

    const Trace& trace() const { return trace_; }
    const Options& options() const { return options_; }

    template <class Fact>
    const Fact& get() const {
        Slot& slot = slot_of(typeid(Fact));
        slot.once([&] { return std::make_shared<const Fact>(Fact::make(*this)); });
        return *static_cast<const Fact*>(slot.fact.get());
    }

    // Makes a fact known that does not follow from the trace, before its first use: that of a whole recording, of which
    // the trace is a part.
    template <class Fact>
    void put(Fact fact) {
        Slot& slot = slot_of(typeid(Fact));
        slot.once([&] { return std::make_shared<const Fact>(std::move(fact)); });
    }

private:
    // Not std::call_once: when an exception passes through it, glibc loads a library, and ends the process if that fails because memory is
    // short.
    struct Slot {
        std::mutex making;
        std::atomic<bool> made = false;
        std::shared_ptr<const void> fact;

        template <class Make>
        void once(Make&& make) {
            if (made.load(std::memory_order_acquire)) return;
            std::lock_guard lock(making);
            if (made.load(std::memory_order_relaxed)) return;
            fact = make();
            made.store(true, std::memory_order_release);
        }
    };
    Slot& slot_of(std::type_index fact) const {
        std::lock_guard lock(mutex_);
        return slots_[fact];
    }

    const Trace& trace_;
    Options options_;
    mutable std::mutex mutex_;
    mutable std::map<std::type_index, Slot> slots_;  // addresses are stable
};

}  // namespace gpuprof::facts
