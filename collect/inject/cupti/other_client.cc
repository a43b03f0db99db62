#include "collect/inject/cupti/other_client.h"

#include <time.h>

#include <cstring>

#include "core/base/clock.h"

namespace gpuprof::inject {
namespace {

constexpr std::uint64_t kMinBase = 2'000'000;  // ns; a bracket of 100 ns then distorts the rate by 5e-5
constexpr int kReadings = 5;

ClockPair read_both(ClientClock::Function function) noexcept {
    ClockPair best;
    std::uint64_t narrowest = ~std::uint64_t{0};
    for (int i = 0; i < kReadings; ++i) {
        auto before = static_cast<std::uint64_t>(realtime_ns());
        std::uint64_t ticks = function();
        auto after = static_cast<std::uint64_t>(realtime_ns());
        if (after - before >= narrowest) continue;
        narrowest = after - before;
        best = {before + narrowest / 2, ticks};
    }
    return best;
}

}  // namespace

ClockLine::ClockLine(ClockPair from, ClockPair to) noexcept : from_(from) {
    if (to.ns > from.ns && to.ticks > from.ticks)
        slope_ = static_cast<double>(to.ticks - from.ticks) / static_cast<double>(to.ns - from.ns);
}

std::uint64_t ClockLine::ticks_at(std::uint64_t ns) const noexcept {
    if (!given() || ns == 0) return ns;
    auto since = static_cast<double>(static_cast<std::int64_t>(ns - from_.ns));
    return from_.ticks + static_cast<std::uint64_t>(static_cast<std::int64_t>(slope_ * since));
}

void ClientClock::set(Function function) noexcept {
    if (function != nullptr) {
        ClockPair since = read_both(function);
        since_ns_.store(since.ns, std::memory_order_relaxed);
        since_ticks_.store(since.ticks, std::memory_order_relaxed);
    }
    function_.store(function, std::memory_order_release);
}

ClockLine ClientClock::line() const noexcept {
    Function function = function_.load(std::memory_order_acquire);
    if (function == nullptr) return {};
    ClockPair from{since_ns_.load(std::memory_order_relaxed), since_ticks_.load(std::memory_order_relaxed)};
    auto age = static_cast<std::uint64_t>(realtime_ns()) - from.ns;
    if (age < kMinBase) {
        timespec rest{0, static_cast<long>(kMinBase - age)};
        nanosleep(&rest, nullptr);
    }
    return {from, read_both(function)};
}

namespace {

constinit OtherClient client;

std::uint64_t now() noexcept { return static_cast<std::uint64_t>(realtime_ns()); }

std::uint64_t time_at(const cupti::Record& record, cupti::Field<std::uint64_t> field) noexcept {
    return field.offset == 0 ? 0 : record.get(field);
}

}  // namespace

OtherClient& other_client() noexcept { return client; }

void OtherClient::set_callbacks(RequestBuffer to_request, CompleteBuffer to_complete) noexcept {
    request_.store(to_request, std::memory_order_relaxed);
    complete_.store(to_complete, std::memory_order_release);
}

void OtherClient::note_on(std::uint32_t kind) noexcept {
    if (kind >= CuptiMultiplexer::kKinds) return;
    if (until_[kind].load() != 0 || since_[kind].load() == 0) since_[kind].store(now());
    until_[kind].store(0);
}

void OtherClient::note_off(std::uint32_t kind) noexcept {
    if (kind < CuptiMultiplexer::kKinds) until_[kind].store(now());
}

void OtherClient::note_still_on(std::uint32_t kind) noexcept {
    if (kind < CuptiMultiplexer::kKinds) until_[kind].store(0);
}

OtherClient::ClientBuffer OtherClient::take() noexcept {
    ClientBuffer taken;
    pthread_mutex_lock(&lock_);
    for (ClientBuffer& out : waiting_)
        if (out.bytes != nullptr) {
            taken = out;
            out = ClientBuffer{};
            break;
        }
    pthread_mutex_unlock(&lock_);
    return taken;
}

void OtherClient::put_back(ClientBuffer out) noexcept {
    if (out.bytes == nullptr) return;
    bool kept = false;
    pthread_mutex_lock(&lock_);
    for (ClientBuffer& place : waiting_)
        if (!kept && place.bytes == nullptr) {
            place = out;
            kept = true;
        }
    pthread_mutex_unlock(&lock_);
    if (!kept) complete(out);
}

bool OtherClient::request(ClientBuffer& out) noexcept {
    out = ClientBuffer{};
    RequestBuffer function = request_.load(std::memory_order_relaxed);
    if (function == nullptr || !present()) return false;
    function(&out.bytes, &out.size, &out.max_records);
    if (out.bytes == nullptr) out = ClientBuffer{};
    return out.bytes != nullptr;
}

void OtherClient::complete(const ClientBuffer& out) noexcept {
    CompleteBuffer function = complete_.load(std::memory_order_acquire);
    if (function != nullptr && out.bytes != nullptr) function(nullptr, 0, out.bytes, out.size, out.used);
}

void OtherClient::prepare() noexcept {
    ClientBuffer out = take();
    if (out.bytes != nullptr || request(out)) put_back(out);
}

// The kinds that were requested at the time of a record. CUPTI itself decides at the launch, which for device work
// precedes its start.
bool OtherClient::is_its(const cupti::Record& record) const noexcept {
    auto kind = static_cast<std::uint32_t>(record.kind());
    if (kind >= CuptiMultiplexer::kKinds) return false;
    bool api = record.kind() == cupti::Kind::runtime || record.kind() == cupti::Kind::driver;
    std::uint32_t cbid = api ? record.get(cupti::api::cbid) : 0;
    bool asked = cupti_multiplexer().wants(ClientId::other, kind, cbid);
    std::uint64_t until = until_[kind].load(), since = since_[kind].load();  // noted before the request changes
    if (!asked && (since == 0 || until == 0)) return false;                  // nor was it requested recently
    if (api && cupti_multiplexer().excludes(ClientId::other, kind, cbid)) return false;
    const cupti::TimesOfKind* times = cupti::times_of(record.kind());
    if (times == nullptr) return true;
    std::uint64_t start = time_at(record, times->at[0]), end = time_at(record, times->at[1]);
    if (start == 0) return true;
    return (end == 0 ? start : end) >= since && (until == 0 || start <= until);
}

bool OtherClient::add(ClientBuffer& out, const std::uint8_t* record, std::size_t bytes,
                      const ClockLine& line) noexcept {
    bool fits =
        out.bytes != nullptr && out.used + bytes <= out.size && (out.max_records == 0 || out.records < out.max_records);
    if (!fits) {
        if (out.records > 0) complete(out);
        if (out.records > 0 || out.bytes == nullptr) {
            if (!request(out)) return false;
        }
        if (bytes > out.size) return false;
    }
    std::uint8_t* to = out.bytes + out.used;
    std::memcpy(to, record, bytes);
    cupti::Record view({reinterpret_cast<const char*>(record), bytes});
    if (const cupti::TimesOfKind* times = line.given() ? cupti::times_of(view.kind()) : nullptr)
        for (cupti::Field<std::uint64_t> field : times->at) {
            if (field.offset == 0 || field.offset + sizeof(std::uint64_t) > bytes) continue;
            std::uint64_t ticks = line.ticks_at(time_at(view, field));
            std::memcpy(to + field.offset, &ticks, sizeof ticks);
        }
    out.used += bytes;
    ++out.records;
    return true;
}

void OtherClient::copy(const Cupti& cupti, std::uint8_t* bytes, std::size_t valid) noexcept {
    if (!present()) return;
    InFlightGuard copying;
    ClockLine line;
    bool line_known = false;
    ClientBuffer out;
    std::uint8_t *record = nullptr, *next = nullptr;
    int more = cupti.cuptiActivityGetNextRecord(bytes, valid, &next);
    while (more == kCuptiSuccess && next != nullptr) {
        record = next;
        more = cupti.cuptiActivityGetNextRecord(bytes, valid, &next);
        const std::uint8_t* end = more == kCuptiSuccess && next != nullptr ? next : bytes + valid;
        auto size = static_cast<std::size_t>(end - record);
        if (!is_its(cupti::Record({reinterpret_cast<const char*>(record), size}))) continue;
        if (!line_known) {
            line = clock_.line();
            line_known = true;
            out = take();
        }
        (add(out, record, size, line) ? copied_ : refused_).fetch_add(1, std::memory_order_relaxed);
    }
    put_back(out);
}

OtherClient::InFlightGuard::InFlightGuard() noexcept { client.in_flight_.fetch_add(1, std::memory_order_acquire); }
OtherClient::InFlightGuard::~InFlightGuard() { client.in_flight_.fetch_sub(1, std::memory_order_release); }

void OtherClient::hand_over() noexcept {
    constexpr long kStep = 100'000, kMaxWait_ns = 500'000'000;  // ns
    for (long waited = 0; waited < kMaxWait_ns && in_flight_.load(std::memory_order_acquire) > 0; waited += kStep) {
        timespec step{0, kStep};
        nanosleep(&step, nullptr);
    }
    for (ClientBuffer out = take(); out.bytes != nullptr; out = take()) complete(out);
    // Records without a time cannot be ordered against later ones: the client's copies end here.
    for (std::uint32_t kind = 0; kind < CuptiMultiplexer::kKinds; ++kind)
        if (until_[kind].load(std::memory_order_relaxed) != 0 && cupti::times_of(cupti::Kind{kind}) == nullptr)
            since_[kind].store(0, std::memory_order_relaxed);
}

void OtherClient::give_back(void* context, std::uint32_t stream, std::uint8_t* bytes, std::size_t size,
                            std::size_t valid) noexcept {
    if (CompleteBuffer function = complete_.load(std::memory_order_acquire))
        function(context, stream, bytes, size, valid);
}

void OtherClient::forget() noexcept {
    hand_over();
    complete_.store(nullptr, std::memory_order_release);
    request_.store(nullptr, std::memory_order_relaxed);
    clock_.set(nullptr);
    for (auto& each : since_) each.store(0, std::memory_order_relaxed);
    for (auto& each : until_) each.store(0, std::memory_order_relaxed);
}

}  // namespace gpuprof::inject
