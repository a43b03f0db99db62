#include "tests/fakes/cupti/contract.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <shared_mutex>
#include <string>
#include <thread>

#include "tests/fakes/cupti/delivery.h"
#include "tests/fakes/cupti/faults.h"
#include "tests/fakes/cupti/interface.h"

namespace fake_cupti {
namespace {

std::atomic<bool> driver_gone{false}, kernels_were_on{false}, sampling_tried{false};
std::atomic<int> sampled_contexts{0};
std::atomic<int> owed[kClients];

// Never destroyed: threads may be in callbacks while the process ends.
std::shared_mutex& callback_lock() {
    static std::shared_mutex& made = *new std::shared_mutex;
    return made;
}

void breach(const char* function, const char* what) { count_breach((std::string(function) + " is " + what).c_str()); }

bool any_wants(std::uint32_t kind) {
    for (Client& each : clients())
        if (each.kinds[kind]) return true;
    return false;
}

}  // namespace

void check_driver_call(const char* function) {
    InClient::What in = InClient::now();
    if (in == InClient::kNowhere) return;
    bool synchronises =
        std::strcmp(function, "cuCtxSynchronize") == 0 || std::strcmp(function, "cuStreamSynchronize") == 0;
    if (in != InClient::kCallback || !synchronises) breach(function, "called within a function of CUPTI's client");
}

int check_single_subscriber(const char* function) {
    if (interface_now() != Interface::v2) return kSuccess;
    breach(function, "called beside subscribers of the second interface");
    return kNotCompatible;
}

bool check_driver_lives(const char* function) {
    if (!driver_gone) return true;
    breach(function, "called after the driver was torn down");
    return false;
}

void tear_driver_down() { driver_gone = true; }

Alone::Alone() : held_(InClient::now() == InClient::kNowhere) {
    if (held_) callback_lock().lock();
}
Alone::~Alone() {
    if (held_) callback_lock().unlock();
}

AmongCallbacks::AmongCallbacks() : held_(InClient::now() == InClient::kNowhere) {
    if (held_) callback_lock().lock_shared();
}
AmongCallbacks::~AmongCallbacks() {
    if (held_) callback_lock().unlock_shared();
}

void owe_devices(Client& client) { ++owed[&client - clients().data()]; }

void owe_devices_to_all() {
    for (Client& each : clients())
        if (each.kinds[kDevice]) owe_devices(each);
}

void deliver_owed_devices(const Script& script) {
    for (std::size_t i = 0; i < kClients; ++i) {
        Client& client = clients()[i];
        for (int copies = owed[i].exchange(0); copies > 0; --copies) {
            Lane& lane = take_lane(client.channel);
            for (const ScriptRecord& record : script.records)
                if (record.kind == kDevice) deliver(client.channel, lane, record.at, record.bytes);
            leave_lane(lane);
        }
    }
}

void pay_for_modules() {
    bool before = kernels_were_on.exchange(true);
    if (!before && driver_started)
        std::this_thread::sleep_for(std::chrono::milliseconds(faults().module_ms * faults().modules));
}

void note_sampling_tried() { sampling_tried = true; }

void note_serial_kernel() {
    if (!sampling_tried.exchange(true)) count_breach("the kind KERNEL makes kernels run one after the other");
}

void note_sampling(bool on) { sampled_contexts += on ? 1 : -1; }

int check_kernel_kind(const char* function, std::uint32_t kind) {
    if (kind != kKernel || sampled_contexts == 0) return kSuccess;
    breach(function, "called for concurrent kernels while PCs are sampled");
    return kNotCompatible;
}

int check_sampling(const char* function) {
    if (int refused = check_single_subscriber(function)) return refused;
    if (!any_wants(kKernel)) return kSuccess;
    breach(function, "called while concurrent kernels are traced");
    return kNotCompatible;
}

}  // namespace fake_cupti
