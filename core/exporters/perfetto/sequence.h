// The packets of one track. Each track is a sequence of its own: its times are differences to the one before, its names are
// numbers that it explains at their first use, and its number is said once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/sink.h"
#include "core/base/string_pool.h"

namespace gpuprof::perfetto {

// What is shown of an event beside its name. Keys are literals.
struct Note {
    const char* key;
    std::int64_t number = 0;
    std::string text{};  // instead of the number, when not empty
};

class Sequence {
public:
    // `number` counts from 1 and is the track's uuid as well; `start` comes before every event.
    Sequence(Sink& sink, std::uint32_t number, TimeNs start);

    struct Event {
        const char* category;  // a literal
        std::string_view name;
        std::span<const Note> notes;
        std::uint64_t flow = 0;  // an arrow leads from the first event with this number to the others; 0: none
    };
    // In the order of time.
    void begin(TimeNs time, const Event& event);
    void end(TimeNs time);
    void count(TimeNs time, double value);

private:
    // Literals by where they lie: a track has few, and looking through them is quicker than hashing one.
    using Literals = std::vector<const char*>;
    // The number of a text among those of its field, from 1; what was not known is explained in the packet that comes.
    std::uint64_t number_of(std::string_view text, StringPool& known, std::uint32_t field);
    std::uint64_t number_of(const char* literal, Literals& known, std::uint32_t field);
    void explain(std::uint64_t number, std::string_view text, std::uint32_t field);
    void write(TimeNs time);

    Sink& sink_;
    std::uint32_t number_;
    TimeNs last_;
    Literals categories_, keys_;
    StringPool names_, texts_;
    std::string fresh_, event_, packet_, part_;  // built anew for each packet
};

// The packet `packet` as a piece of the file.
void write_packet(Sink& sink, std::string_view packet);

}  // namespace gpuprof::perfetto
