// Units of columns, in traces and results. Every number in a report has one.
#pragma once

#include <string_view>

namespace gpuprof::inline schema {

enum class Unit {
    none,
    ns,
    bytes,
    count,
    percent,
    gb_per_s,
    flop,
    flop_per_s,
    flop_per_byte,
    second,
    mib,
    mb_per_s,
    watt,
    joule,
    celsius,
    megahertz
};

// The unit as machine formats spell it; "" for none. MB/s is 1e6 bytes per second, GB/s 1e9.
constexpr std::string_view name_of(Unit unit) {
    switch (unit) {
        case Unit::none: return "";
        case Unit::ns: return "ns";
        case Unit::bytes: return "bytes";
        case Unit::count: return "count";
        case Unit::percent: return "%";
        case Unit::gb_per_s: return "GB/s";
        case Unit::flop: return "FLOP";
        case Unit::flop_per_s: return "FLOP/s";
        case Unit::flop_per_byte: return "FLOP/byte";
        case Unit::second: return "s";
        case Unit::mib: return "MiB";
        case Unit::mb_per_s: return "MB/s";
        case Unit::watt: return "W";
        case Unit::joule: return "J";
        case Unit::celsius: return "C";
        case Unit::megahertz: return "MHz";
    }
    return "";
}

}  // namespace gpuprof::schema
