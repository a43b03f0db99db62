#include "cli/unfinished_file.h"

#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <utility>

namespace gpuprof::inline cli {
namespace {

// State for a signal handler: fixed memory. A path is written only while `set` is false.
struct Slot {
    std::atomic<bool> taken{false}, set{false};
    std::array<char, PATH_MAX> path{};
};
constexpr int kSlots = 8;  // more outputs at once than any command has
std::array<Slot, kSlots> slots;

void remove_and_end(int signal) {
    for (Slot& slot : slots)
        if (slot.set) unlink(slot.path.data());
    raise(signal);  // the handler is already removed (SA_RESETHAND)
}

void watch_signals() {
    for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        struct sigaction now {};
        if (sigaction(signal, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
        struct sigaction action {};
        action.sa_handler = remove_and_end;
        action.sa_flags = static_cast<int>(SA_RESETHAND);
        sigaction(signal, &action, nullptr);
    }
}

}  // namespace

UnfinishedFile::UnfinishedFile() : slot_(-1) {
    for (int i = 0; i < kSlots && slot_ < 0; ++i)
        if (!slots[static_cast<std::size_t>(i)].taken.exchange(true)) slot_ = i;
}

UnfinishedFile::UnfinishedFile(UnfinishedFile&& other) noexcept : slot_(std::exchange(other.slot_, -1)) {}

UnfinishedFile::~UnfinishedFile() {
    if (slot_ < 0) return;
    Slot& slot = slots[static_cast<std::size_t>(slot_)];
    slot.set = false;
    slot.taken = false;
}

void UnfinishedFile::set(const std::string& path) {
    if (slot_ < 0) return;
    Slot& slot = slots[static_cast<std::size_t>(slot_)];
    slot.set = false;
    if (path.size() >= slot.path.size()) return;
    std::memcpy(slot.path.data(), path.c_str(), path.size() + 1);
    slot.set = true;
    watch_signals();
}

}  // namespace gpuprof::cli
