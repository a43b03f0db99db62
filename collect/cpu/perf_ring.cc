#include "collect/cpu/perf_ring.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace gpuprof::inline cpu {
namespace {

constexpr std::size_t kHeader = sizeof(perf_event_header);

// A COMM record is the longest of those that are read: 8 + 8 + 16 + 24 bytes.
constexpr std::size_t kLongest = 256;

template <class Number>
Number number_at(std::string_view bytes, std::size_t at) {
    Number number{};
    std::memcpy(&number, bytes.data() + at, sizeof number);
    return number;
}

pid_t id_at(std::string_view bytes, std::size_t at) { return static_cast<pid_t>(number_at<std::uint32_t>(bytes, at)); }

}  // namespace

std::optional<SwitchRecord> parse_switch(std::string_view record) {
    if (record.size() < kHeader + kSwitchTrailer) return std::nullopt;
    auto header = number_at<perf_event_header>(record, 0);
    std::size_t trailer = record.size() - kSwitchTrailer, body = trailer - kHeader;
    SwitchRecord parsed{.process = id_at(record, trailer),
                        .thread = id_at(record, trailer + 4),
                        .time = number_at<TimeNs>(record, trailer + 8)};
    switch (header.type) {
        case PERF_RECORD_SWITCH: {
            bool out = (header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
            parsed.kind = out ? SwitchRecord::Kind::out : SwitchRecord::Kind::in;
            parsed.preempted = out && (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
            return parsed;
        }
        case PERF_RECORD_COMM:
            if ((header.misc & PERF_RECORD_MISC_COMM_EXEC) == 0 || body < 8) return std::nullopt;
            parsed.kind = SwitchRecord::Kind::exec;
            parsed.process = id_at(record, kHeader);
            parsed.thread = id_at(record, kHeader + 4);
            return parsed;
        case PERF_RECORD_EXIT:
            if (body < 24) return std::nullopt;
            parsed.kind = SwitchRecord::Kind::exit;
            parsed.process = id_at(record, kHeader);
            parsed.thread = id_at(record, kHeader + 8);
            return parsed;
        case PERF_RECORD_LOST:
            if (body < 16) return std::nullopt;
            parsed.kind = SwitchRecord::Kind::lost;
            parsed.lost = number_at<std::uint64_t>(record, kHeader + 8);
            return parsed;
        default: return std::nullopt;
    }
}

void PerfRing::copy(std::uint64_t from, std::size_t bytes, char* to) const {
    std::size_t at = from & (size_ - 1), first = std::min(bytes, size_ - at);
    std::memcpy(to, data_ + at, first);
    std::memcpy(to + first, data_, bytes - first);
}

std::size_t PerfRing::read(std::vector<SwitchRecord>& into) {
    std::uint64_t head = __atomic_load_n(&control_.data_head, __ATOMIC_ACQUIRE), tail = control_.data_tail;
    std::size_t discarded = 0;
    std::array<char, kLongest> record;
    if (head - tail > size_) {
        discarded = static_cast<std::size_t>(head - tail);
        tail = head;
    }
    while (head - tail >= kHeader) {
        perf_event_header header;
        copy(tail, kHeader, reinterpret_cast<char*>(&header));
        if (header.size < kHeader || header.size > head - tail) break;
        if (header.size <= kLongest) {
            copy(tail, header.size, record.data());
            if (auto parsed = parse_switch({record.data(), header.size})) into.push_back(*parsed);
        }
        tail += header.size;
    }
    discarded += static_cast<std::size_t>(head - tail);
    __atomic_store_n(&control_.data_tail, head, __ATOMIC_RELEASE);
    return discarded;
}

}  // namespace gpuprof::cpu
