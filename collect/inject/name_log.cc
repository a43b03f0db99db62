#include "collect/inject/name_log.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace gpuprof::inject {
namespace {

constinit NameLog names;

}  // namespace

NameLog& name_log() noexcept { return names; }

// Fresh pages are zero, so a newly mapped block is empty.
void* NameLog::room(std::size_t bytes) noexcept {
    if (bytes > sizeof(Block::bytes)) return nullptr;
    for (;;) {
        Block* block = block_.load(std::memory_order_acquire);
        if (block != nullptr) {
            std::size_t at = block->used.fetch_add(bytes, std::memory_order_relaxed);
            if (at + bytes <= sizeof block->bytes) return block->bytes + at;
        }
        void* memory = mmap(nullptr, sizeof(Block), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return nullptr;
        if (!block_.compare_exchange_strong(block, static_cast<Block*>(memory), std::memory_order_acq_rel))
            munmap(memory, sizeof(Block));
    }
}

void NameLog::add(const spool::NvtxEvent& event, std::string_view text) noexcept {
    void* memory = room((sizeof(Entry) + text.size() + 7) / 8 * 8);
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
        bool of_parent = entry->event.op == spool::NvtxOp::thread_name || entry->event.op == spool::NvtxOp::stream_name;
        if (of_parent) entry->event.time = 0;
        last = entry;
    }
    last_.store(last, std::memory_order_relaxed);
}

}  // namespace gpuprof::inject
