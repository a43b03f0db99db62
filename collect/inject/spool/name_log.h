// Names that the program gave to domains, strings, threads, categories and streams. A name is given once and holds for
// the lifetime of the process, so every later file needs all of them: the next part of a recording (--keep-last), and a
// forked child, which keeps using its parent's handles. Any thread appends without a lock; nothing is freed.
#pragma once

#include <atomic>
#include <string_view>

#include "collect/inject/spool/scratch.h"
#include "core/format/spool.h"

namespace gpuprof::inject {

class NameLog {
public:
    void add(const spool::HostEvent& event, std::string_view text) noexcept;
    // Calls visit(event, text) for each name, in order. A name that is being added may be missed.
    template <class Visit>
    void each(Visit&& visit) const noexcept {
        for (const Entry* entry = first_.load(std::memory_order_acquire); entry != nullptr;
             entry = entry->next.load(std::memory_order_acquire))
            if (entry->event.time != 0)
                visit(entry->event, std::string_view(entry->text(), static_cast<std::size_t>(entry->event.text)));
    }
    // In a forked child: a name that another parent thread was adding at that moment is lost, and names of threads and
    // streams belong to the parent only.
    void adopt_in_child() noexcept;

private:
    struct Entry {
        std::atomic<Entry*> next;
        spool::HostEvent event;  // `text` is the length of the text that follows
        const char* text() const noexcept { return reinterpret_cast<const char*>(this + 1); }
    };

    std::atomic<Entry*> first_{nullptr}, last_{nullptr};
    Arena arena_;
};

NameLog& name_log() noexcept;

}  // namespace gpuprof::inject
