// The packets of one track. Each track is a separate sequence: its times are deltas, its names are numbers that it
// defines at their first use, and its track number is written once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/files/sink.h"
#include "core/base/ids.h"
#include "core/base/string_pool.h"

namespace gpuprof::inline exporters::perfetto {

// What is shown for an event besides its name. Keys are literals.
struct Note {
    const char* key;
    std::int64_t number = 0;
    std::string text{};  // replaces the number if not empty
};

class Sequence {
public:
    // `number` counts from 1 and is also the track's uuid; `start` is before every event.
    Sequence(Sink& sink, std::uint32_t number, TimeNs start);

    struct Event {
        const char* category;  // a literal
        std::string_view name;
        std::span<const Note> notes;
        std::uint64_t flow = 0;  // an arrow leads from the first event with this number to the others; 0: none
    };
    // In time order.
    void begin(TimeNs time, const Event& event);
    void end(TimeNs time);
    void count(TimeNs time, double value);

private:
    // Literals by address: a track has few, and a linear search is faster than hashing one.
    using Literals = std::vector<const char*>;
    // The number of a text among those of its field, from 1; the next packet defines new ones.
    std::uint64_t number_of(std::string_view text, StringPool& known, std::uint32_t field);
    std::uint64_t number_of(const char* literal, Literals& known, std::uint32_t field);
    void explain(std::uint64_t number, std::string_view text, std::uint32_t field);
    void write(TimeNs time);

    Sink& sink_;
    std::uint32_t number_;
    TimeNs last_;
    Literals categories_, keys_;
    StringPool names_, texts_;
    std::string fresh_, event_, packet_, part_;  // rebuilt for each packet
};

// The packet `packet` as a piece of the file.
void write_packet(Sink& sink, std::string_view packet);

}  // namespace gpuprof::exporters::perfetto
