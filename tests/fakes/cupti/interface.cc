#include "tests/fakes/cupti/interface.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "tests/fakes/cupti/contract.h"
#include "tests/fakes/cupti/cupti_play.h"
#include "tests/fakes/cupti/cupti_script.h"
#include "tests/fakes/cupti/delivery.h"

namespace fake_cupti {
namespace {

constexpr std::uint32_t kNewestVersion = 130001, kFirstWithHostNodes = 130100, kFirstMultiple = 130301,
                        kFirstMultipleDriver = 13030;
// The process in which a kind was switched on first.
std::atomic<pid_t> home{0};
std::atomic<bool> any_kind{false}, allowed{false};
std::atomic<int> decided{0};

// What CUPTI records for a client is switched by one thread at a time (cupti_callbacks.h says so of callbacks, and nothing allows it for kinds), not
// within a function that hands buffers over, and not off within a callback (contract.h).
class Switching {
public:
    Switching(Client& client, const char* function, bool on) : inside_(client.switching) {
        if (InClient::now() == InClient::kBufferFunction) breach(function, "called within a function of buffers");
        if (InClient::now() == InClient::kResourceCallback || (!on && InClient::now() == InClient::kCallback))
            breach(function, "called within a callback");
        if (inside_.fetch_add(1) > 0) breach(function, "called while another thread switches");
    }
    ~Switching() { inside_.fetch_sub(1); }
    Switching(const Switching&) = delete;

private:
    static void breach(const char* function, const char* what) {
        count_breach((std::string(function) + " is " + what).c_str());
    }
    Alone alone_;
    std::atomic<int>& inside_;
};

}  // namespace

const Script* default_script() {
    const char* path = std::getenv("GPUPROF_FAKE_CUDA_SCRIPT");
    return path && *path ? find_script(path) : nullptr;
}

std::uint32_t version_now() {
    const Script* script = default_script();
    return faults().version ? faults().version : script ? script->version : kNewestVersion;
}

bool has_multiple_subscribers() { return version_now() >= kFirstMultiple && faults().driver >= kFirstMultipleDriver; }

Interface interface_now() { return static_cast<Interface>(decided.load()); }

bool decide(Interface wanted) {
    if (!has_multiple_subscribers()) return wanted == Interface::v1;
    int undecided = 0;
    decided.compare_exchange_strong(undecided, static_cast<int>(wanted));
    return interface_now() == wanted;
}

bool others_allowed() { return allowed; }
void allow_others(bool now) { allowed = now; }
bool any_kind_was_on() { return any_kind; }
int home_process() { return home; }

int set_kind(Client& client, const char* function, std::uint32_t kind, bool on, bool dump) {
    Switching switching(client, function, on);
    if (kind == 0 || kind >= kKinds || kind == kDeviceGraph) return kInvalidKind;
    if (kind >= kHostNode && version_now() < kFirstWithHostNodes) return kInvalidKind;
    if (on && !client.channel.has_client() && !client.channel.torn_down)
        count_breach("a kind is switched on before the functions for buffers are registered");
    if (int refused = on ? check_kernel_kind(function, kind) : kSuccess) return refused;
    if (on && (kind == kKernel || kind == kSerialKernel)) pay_for_modules();
    if (on && home == 0) home = getpid();
    if (dump && kind == kDevice && driver_started) {
        owe_devices(client);
        if (const Script* played = last_played()) deliver_owed_devices(*played);
    }
    any_kind = any_kind || on;
    client.kinds[kind] = on;
    if (!on) forget_in_flight(client.channel, kind);
    // "overrules the settings done by this API if it is called after the API": cupti_activity.h
    if (kind == kRuntime || kind == kDriver)
        for (auto& request : client.functions[kind == kRuntime ? kRuntimeDomain : kDriverDomain])
            request = kUnspecified;
    return kSuccess;
}

int set_function(Client& client, const char* function, std::uint32_t domain, std::uint32_t cbid, std::uint8_t enable) {
    Switching switching(client, function, enable != 0);
    if (cbid == 0 || cbid >= kFunctions) return kInvalidParameter;
    if (home == 0) home = getpid();
    any_kind = any_kind || enable;
    client.functions[domain][cbid] = enable ? kWanted : kUnwanted;
    return kSuccess;
}

int set_attribute(Client& client, std::uint32_t attribute, const std::size_t* bytes, const void* value,
                  std::uint32_t attributes) {
    if (bytes == nullptr || value == nullptr || attribute >= attributes) return kInvalidParameter;
    if (*bytes == 0) return kParameterSize;
    auto* begin = static_cast<const unsigned char*>(value);
    if (attribute == kZeroedBuffers) client.channel.promised_zeroed = *begin != 0;
    std::lock_guard<std::mutex> held(client.lock);
    client.attributes[attribute].assign(begin, begin + *bytes);
    return kSuccess;
}

int get_attribute(Client& client, std::uint32_t attribute, const std::size_t* bytes, void* value,
                  std::uint32_t attributes) {
    if (bytes == nullptr || value == nullptr || attribute >= attributes) return kInvalidParameter;
    std::lock_guard<std::mutex> held(client.lock);
    const auto& kept = client.attributes[attribute];
    if (*bytes < kept.size()) return kParameterSize;
    std::memset(value, 0, *bytes);
    if (!kept.empty()) std::memcpy(value, kept.data(), kept.size());
    return kSuccess;
}

int next_record(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record) {
    if (buffer == nullptr || record == nullptr) return kInvalidParameter;
    std::uint8_t* next = buffer;
    if (*record != nullptr) {
        std::uint32_t bytes = bytes_of_kind(read<std::uint32_t>(*record, 0));
        if (bytes == 0 || *record < buffer || *record >= buffer + valid) return kInvalidParameter;
        next = *record + bytes;
    }
    if (next + sizeof(std::uint32_t) > buffer + valid) return kEndOfBuffer;
    std::uint32_t bytes = bytes_of_kind(read<std::uint32_t>(next, 0));
    if (bytes == 0 || next + bytes > buffer + valid) return kInvalidKind;
    *record = next;
    return kSuccess;
}

int push_id(ExternalIds& ids, std::uint32_t kind, std::uint64_t id) {
    if (kind == 0 || kind > 6) return kInvalidParameter;
    ids[kind].push_back(id);
    return kSuccess;
}

int pop_id(ExternalIds& ids, std::uint32_t kind, std::uint64_t* last) {
    if (kind == 0 || kind > 6) return kInvalidParameter;
    auto& pushed = ids[kind];
    if (pushed.empty()) return kQueueEmpty;
    if (last) *last = pushed.back();
    pushed.pop_back();
    return kSuccess;
}

void reset(Client& client) {
    for (auto& kind : client.kinds) kind = false;
    for (auto& domain : client.functions)
        for (auto& function : domain) function = kUnspecified;
    client.clock = nullptr;
    tear_down(client.channel);
    std::lock_guard<std::mutex> held(client.lock);
    client.subscribed = false;
    client.callback = nullptr;
    client.callbacks.clear();
    client.calls_back = false;
    client.attributes.clear();
}

Client* subscribed(void* handle) {
    for (Client& each : clients()) {
        std::lock_guard<std::mutex> held(each.lock);
        if (&each == handle && each.subscribed) return &each;
    }
    return nullptr;
}

void tell_holder(const SubscriberParameters* parameters, const std::string& holder) {
    if (parameters == nullptr || parameters->old_name == nullptr || parameters->old_name_bytes == 0) return;
    std::strncpy(parameters->old_name, holder.c_str(), parameters->old_name_bytes - 1);
    parameters->old_name[parameters->old_name_bytes - 1] = 0;
}

}  // namespace fake_cupti
