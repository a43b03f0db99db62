// What the functions of both interfaces of CUPTI share: results, the switching of kinds, and which interface this process uses.
// From CUPTI 13.3 with a driver of CUDA 13.3 (r610) a process may have several subscribers of the second interface (V2), if the
// first one allows it. V1 and V2 never meet in one process: who comes second is refused.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/fakes/cupti/client.h"
#include "tests/fakes/cupti/cupti_script.h"
#include "tests/fakes/cupti/faults.h"

namespace fake_cupti {

enum Result : int {
    kSuccess = 0,
    kInvalidParameter = 1,
    kInvalidOperation = 7,
    kParameterSize = 10,
    kEndOfBuffer = 12,
    kNotCompatible = 14,
    kQueueEmpty = 18,
    kInvalidStream = 20,
    kInvalidKind = 21,
    kNotSupported = 27,
    kMultipleSubscribers = 39,
    kUnknown = 999,
};

constexpr std::uint32_t kZeroedBuffers = 5;  // CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER

// The script that GPUPROF_FAKE_CUDA_SCRIPT names; null: none.
const Script* default_script();
std::uint32_t version_now();
// Whether this version and this driver have several subscribers.
bool has_multiple_subscribers();

// Which interface the process has begun to use; the first call decides.
enum class Interface : int { undecided, v1, v2 };
Interface interface_now();
// Whether the interface is, or from now on will be, this one.
bool decide(Interface wanted);
// V2 only: whether the first subscriber allowed others.
bool others_allowed();
void allow_others(bool allowed);
// Whether any kind has been switched on by anyone.
bool any_kind_was_on();

// The process in which a kind was switched on first; 0: none.
int home_process();

struct SubscriberParameters {  // CUpti_SubscriberParams; the last two since 13.2
    std::size_t bytes;
    const char* name;
    char* old_name;
    std::size_t old_name_bytes;
    std::uint8_t allow_others;
    std::uint8_t padding[7];
};

// `dump`: what there is already comes too.
int set_kind(Client& client, const char* function, std::uint32_t kind, bool on, bool dump = false);
int set_function(Client& client, const char* function, std::uint32_t domain, std::uint32_t cbid, std::uint8_t enable);
int set_attribute(Client& client, std::uint32_t attribute, const std::size_t* bytes, const void* value,
                  std::uint32_t attributes);
int get_attribute(Client& client, std::uint32_t attribute, const std::size_t* bytes, void* value,
                  std::uint32_t attributes);
int next_record(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record);
int push_id(ExternalIds& ids, std::uint32_t kind, std::uint64_t id);
int pop_id(ExternalIds& ids, std::uint32_t kind, std::uint64_t* last);
// Ends everything of one client.
void reset(Client& client);
// Null: no client is subscribed by this handle.
Client* subscribed(void* handle);
void tell_holder(const SubscriberParameters* parameters, const std::string& holder);

}  // namespace fake_cupti

// Begins every function of CUPTI: what a rule says comes first.
#define GATE()                                      \
    do {                                            \
        if (int code = gate(__func__)) return code; \
    } while (false)
// Begins the functions of V1, which end where a subscriber of V2 is.
#define GATE_V1()                                          \
    do {                                                   \
        GATE();                                            \
        if (!decide(Interface::v1)) return kNotCompatible; \
    } while (false)
