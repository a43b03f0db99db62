// One event of a Chrome trace as slices of the input: every known field is a RawValue, decoded only on demand.
// An Event is reused from event to event and refers to the block of input it was read from.
#pragma once

#include <array>
#include <cstdint>

#include "io/importers/kineto/fields.def"
#include "io/importers/kineto/scan.h"

namespace gpuprof::inline importers::kineto {

#define GPUPROF_KINETO_ENUM(name, place, key) name,
enum class Field : std::uint8_t { GPUPROF_KINETO_FIELDS(GPUPROF_KINETO_ENUM) unknown };
#undef GPUPROF_KINETO_ENUM
inline constexpr std::size_t kFields = static_cast<std::size_t>(Field::unknown);
inline constexpr std::size_t kPresenceWords = 2;  // of one bit per field
static_assert(kFields < 64 * kPresenceWords);

struct Event {
    // For each field, the two fields that last followed it; see KeyReader in event.cc.
    using Followers = std::array<std::array<Field, 2>, kFields + 1>;
    Followers key_followers, arg_followers;
    Event() {
        key_followers.fill({Field::unknown, Field::unknown});
        arg_followers.fill({Field::unknown, Field::unknown});
    }

    std::array<std::uint64_t, kPresenceWords> present{};
    bool too_deep = false;  // some value was nested too deeply and was skipped
    std::string_view args;  // the object of arguments, with its braces; "" if there is none
    std::array<RawValue, kFields + 1> values;

    bool has(Field field) const {
        auto bit = static_cast<unsigned>(field);
        return (present[bit / 64] >> (bit % 64) & 1) != 0;
    }
    const RawValue& operator[](Field field) const { return values[static_cast<std::size_t>(field)]; }
    // The bytes of a field; "" if absent.
    std::string_view text(Field field) const { return has(field) ? (*this)[field].text() : std::string_view{}; }
    void put(Field field, const RawValue& value) {
        auto bit = static_cast<unsigned>(field);
        values[bit] = value;
        present[bit / 64] |= std::uint64_t{1} << (bit % 64);
    }
};

// Reads the event whose '{' is at p and moves p past its '}'. If a key occurs twice, the last value counts.
// On failure p is where reading stopped, and the event must not be used.
Scan read_event(const char*& p, const char* end, Event& event);

// Whether an event seems to start at p: the last non-blank byte before p ends an item, and a brace and a key that
// events start with follow. Reads at most kEventPrefix bytes past p.
inline constexpr std::ptrdiff_t kEventPrefix = 64;
bool looks_like_event(char before, const char* p, const char* end);

// The last non-blank byte of [begin, p), or `otherwise` if there is none.
char last_visible(const char* begin, const char* p, char otherwise);

}  // namespace gpuprof::importers::kineto
