#include "collect/inject/spool/name_log.h"

#include <cstring>
#include <new>

namespace gpuprof::inject {
namespace {

constinit NameLog shared_name_log;

}  // namespace

NameLog& name_log() noexcept { return shared_name_log; }

void NameLog::add(const spool::HostEvent& event, std::string_view text) noexcept {
    void* memory = arena_.room((sizeof(Entry) + text.size() + 7) / 8 * 8);
    if (memory == nullptr) return;  // later files lack this name
    auto* entry = new (memory) Entry{{nullptr}, event};
    entry->event.text_kind = spool::TextKind::inline_text;
    entry->event.text = text.size();
    if (!text.empty()) std::memcpy(static_cast<char*>(memory) + sizeof(Entry), text.data(), text.size());
    Entry* before = last_.exchange(entry, std::memory_order_acq_rel);
    (before == nullptr ? first_ : before->next).store(entry, std::memory_order_release);
}

void NameLog::adopt_in_child() noexcept {
    Entry* last = nullptr;
    for (Entry* entry = first_.load(std::memory_order_relaxed); entry != nullptr;
         entry = entry->next.load(std::memory_order_relaxed)) {
        bool of_parent =
            entry->event.op == spool::HostEventOp::thread_name || entry->event.op == spool::HostEventOp::stream_name;
        if (of_parent) entry->event.time = 0;
        last = entry;
    }
    last_.store(last, std::memory_order_relaxed);
}

}  // namespace gpuprof::inject
