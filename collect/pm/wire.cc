#include "collect/pm/wire.h"

#include "core/format/bytes.h"

namespace gpuprof::pm {
namespace {

constexpr std::uint8_t kRequest = 0xC1, kReport = 0xC2;

void put_times(std::string& out, const std::vector<TimeNs>& times) {
    put_varint(out, times.size());
    for (TimeNs time : times) put_signed(out, time);
}

// A count is at most what the bytes can hold; one that is more spoils the cursor.
std::size_t count_of(ByteCursor& cursor) {
    std::uint64_t count = cursor.varint();
    if (count <= cursor.left()) return static_cast<std::size_t>(count);
    cursor.take(cursor.left() + 1);
    return 0;
}

std::vector<TimeNs> take_times(ByteCursor& cursor) {
    std::vector<TimeNs> times(count_of(cursor));
    for (TimeNs& time : times) time = cursor.signed_varint();
    return times;
}

}  // namespace

std::string encode(const CounterRequest& request) {
    std::string out;
    put_u8(out, kRequest);
    put_text(out, request.part);
    put_text(out, request.set);
    put_text(out, request.program);
    put_signed(out, request.interval);
    put_times(out, request.written_until);
    return out;
}

std::optional<CounterRequest> decode_request(std::string_view packet) {
    ByteCursor cursor(packet);
    if (cursor.u8() != kRequest) return std::nullopt;
    CounterRequest request;
    request.part = cursor.text();
    request.set = cursor.text();
    request.program = cursor.text();
    request.interval = cursor.signed_varint();
    request.written_until = take_times(cursor);
    if (!cursor.ok() || cursor.left() > 0 || request.interval <= 0) return std::nullopt;
    return request;
}

std::string encode(const CounterReport& report) {
    std::string out;
    put_u8(out, kReport);
    put_u8(out, static_cast<std::uint8_t>(report.phase));
    put_signed(out, report.code);
    put_varint(out, report.remarks.size());
    for (const std::string& remark : report.remarks) put_text(out, remark);
    put_varint(out, report.moments);
    put_varint(out, report.lost);
    put_times(out, report.written_until);
    return out;
}

std::optional<CounterReport> decode_report(std::string_view packet) {
    ByteCursor cursor(packet);
    if (cursor.u8() != kReport) return std::nullopt;
    CounterReport report;
    std::uint8_t phase = cursor.u8();
    if (phase > static_cast<std::uint8_t>(CounterReport::Phase::finished)) return std::nullopt;
    report.phase = CounterReport::Phase{phase};
    report.code = static_cast<int>(cursor.signed_varint());
    report.remarks.resize(count_of(cursor));
    for (std::string& remark : report.remarks) remark = cursor.text();
    report.moments = cursor.varint();
    report.lost = cursor.varint();
    report.written_until = take_times(cursor);
    if (!cursor.ok() || cursor.left() > 0) return std::nullopt;
    return report;
}

}  // namespace gpuprof::pm
