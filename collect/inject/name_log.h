// Names that the program gave to its domains, strings, threads, categories and streams. A name is given once and holds for as long as the
// process lives, so whoever begins a file later needs them all: the next part of a recording (--keep-last), and a child of
// fork(), which goes on using its parent's handles. Appended to by any thread without a lock, never freed.
#pragma once

#include <atomic>
#include <string_view>

#include "core/format/spool.h"

namespace gpuprof::inject {

class NameLog {
public:
    void add(const spool::NvtxEvent& event, std::string_view text) noexcept;
    // Each name in the order it was given: visit(event, text). A name that is being added may be missed.
    template <class Visit>
    void each(Visit&& visit) const noexcept {
        for (const Entry* entry = first_.load(std::memory_order_acquire); entry != nullptr;
             entry = entry->next.load(std::memory_order_acquire))
            if (entry->event.time != 0)
                visit(entry->event, std::string_view(entry->text(), static_cast<std::size_t>(entry->event.text)));
    }
    // In a child of fork(): what another thread of the parent was adding at that moment never will be, and the names of threads and streams
    // are the parent's alone.
    void become_childs() noexcept;

private:
    struct Entry {
        std::atomic<Entry*> next;
        spool::NvtxEvent event;  // `text` is the length of the text that follows
        const char* text() const noexcept { return reinterpret_cast<const char*>(this + 1); }
    };
    struct Block {
        static constexpr std::size_t kBytes = std::size_t{64} << 10;
        std::atomic<std::size_t> used;
        alignas(8) char bytes[kBytes - 16];
    };
    void* room(std::size_t bytes) noexcept;

    std::atomic<Entry*> first_{nullptr}, last_{nullptr};
    std::atomic<Block*> block_{nullptr};
};

NameLog& name_log() noexcept;

}  // namespace gpuprof::inject
