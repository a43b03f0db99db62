#include "tests/fakes/cupti/cupti_play.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>
#include <sstream>
#include <thread>
#include <vector>

#include "tests/fakes/cupti/client.h"
#include "tests/fakes/cupti/contract.h"
#include "tests/fakes/cupti/counter_script.h"
#include "tests/fakes/cupti/delivery.h"
#include "tests/fakes/cupti/faults.h"
#include "tests/fakes/cupti/handles.h"
#include "tests/fakes/cupti/stall_script.h"

namespace fake_cupti {
namespace {

struct Options {
    bool inline_ = false, live = false, renames = false, moved = false, paced = false;
    std::uint32_t first = 0, copies = 1, repeat = 1;
};

bool parse(const std::string& text, Options& options) {
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        std::size_t sign = word.find('=');
        std::string value = sign == std::string::npos ? "" : word.substr(sign + 1);
        if (word == "inline")
            options.inline_ = true;
        else if (word == "live")
            options.live = true;
        else if (word == "renames")
            options.renames = true;
        else if (word.rfind("first=", 0) == 0)
            options.first = static_cast<std::uint32_t>(std::stoul(value));
        else if (word.rfind("copies=", 0) == 0)
            options.copies = static_cast<std::uint32_t>(std::stoul(value));
        else if (word.rfind("repeat=", 0) == 0)
            options.repeat = static_cast<std::uint32_t>(std::stoul(value));
        else if (word == "time=start")
            options.moved = true;
        else if (word == "time=paced")
            options.moved = options.paced = true;
        else if (word != "time=recorded") {
            std::fprintf(stderr, "fake libcupti: unknown option '%s'; see tests/fakes/cupti/cupti_play.h\n",
                         word.c_str());
            return false;
        }
    }
    return true;
}

// A client's clock at a time of CLOCK_REALTIME, by the line through its registration and now.
struct ClientClock {
    std::uint64_t since_ns = 0, since_ticks = 0;
    double slope = 0;  // 0: there is none
    ClientClock() = default;
    explicit ClientClock(const Client& client) {
        Clock clock = client.clock.load();
        if (clock == nullptr) return;
        since_ns = client.clock_since_ns.load();
        since_ticks = client.clock_since_ticks.load();
        while (now_ns() < since_ns + 2'000'000) usleep(500);
        slope = static_cast<double>(clock() - since_ticks) / static_cast<double>(now_ns() - since_ns);
    }
    std::uint64_t at(std::uint64_t ns) const {
        if (slope == 0 || ns == 0) return ns;
        return since_ticks + static_cast<std::uint64_t>(static_cast<std::int64_t>(
                                 slope * static_cast<double>(static_cast<std::int64_t>(ns - since_ns))));
    }
};

// What clients said when the play began.
struct Audience {
    std::array<ExternalIds, kClients> ids = external_ids();
    std::array<ClientClock, kClients> clocks;
    Audience() {
        for (std::size_t i = 0; i < kClients; ++i) clocks[i] = ClientClock(clients()[i]);
    }
};

bool take_one(std::atomic<std::int64_t>& left) { return left > 0 && left.fetch_sub(1) > 0; }

// One lane at work. Scratch space for one record is all it holds.
class Player {
public:
    Player(const Script& script, const Options& options, const Audience& audience, std::uint64_t shift)
        : script_(script), options_(options), audience_(audience), shift_(shift) {
        for (std::size_t i = 0; i < kClients; ++i) lanes_[i] = &take_lane(clients()[i].channel);
    }
    ~Player() {
        for (Lane* lane : lanes_) leave_lane(*lane);
    }
    Player(const Player&) = delete;

    // lane ~0: all of them.
    void play(std::uint32_t lane, std::uint32_t copy) {
        process_ = static_cast<std::uint32_t>(getpid());
        for (std::uint32_t turn = 0; turn < options_.repeat; ++turn) {
            if (options_.renames && turn > 0) rename_kernels(turn);
            correlation_ = (copy * options_.repeat + turn) * (script_.last_correlation + 1);
            for (const ScriptRecord& record : script_.records)
                if (record.kind != kDevice && (lane == ~0u || record.lane == lane)) play(record);
        }
    }

private:
    void play(const ScriptRecord& record) {
        bool api = record.kind == kDriver || record.kind == kRuntime;
        std::uint32_t cbid = api ? read<std::uint32_t>(record.at, 4) : 0;
        std::uint32_t domain = record.kind == kDriver ? kDriverDomain : kRuntimeDomain;
        std::memcpy(bytes_, record.at, record.bytes);
        Fields fields = fields_of(record.kind);
        std::uint32_t correlation = 0;
        if (fields.correlation != 0) {
            correlation = read<std::uint32_t>(bytes_, fields.correlation);
            if (correlation != 0) write(bytes_, fields.correlation, correlation += correlation_);
        }
        Arguments arguments(script_, record, correlation_);
        LaunchArguments launch(script_, api ? correlation - correlation_ : 0);
        ApiCall call{domain, cbid, correlation, arguments.words};
        call.symbol = launch.symbol;
        if (const void* of_launch =
                domain == kDriverDomain ? launch.for_function(function_name(domain, cbid)) : nullptr)
            call.arguments = of_launch;
        if (api) call.result = read<std::int32_t>(record.at, 36);
        if (api) enter(call, launch);
        bool wanted = false;
        for (const Client& each : clients()) wanted |= wants_record(each, record.kind, cbid);
        if (wanted) {
            rewrite(record, fields);
            bool running = record.kind == kKernel && take_one(faults().running);
            for (std::size_t i = 0; i < kClients; ++i)
                if (wants_record(clients()[i], record.kind, cbid)) deliver_to(i, record, fields, correlation, running);
        }
        if (api) call_back_api(call, kExit);
    }

    // Kernels have two kinds.
    static bool wants_record(const Client& client, std::uint32_t kind, std::uint32_t cbid) {
        return wants(client, kind, cbid) || (kind == kKernel && wants(client, kSerialKernel, 0));
    }

    // A function of the runtime calls that of the driver, with the same arguments and correlation id.
    static void enter(ApiCall& call, LaunchArguments& launch) {
        call_back_api(call, kEnter);
        ApiCall inner = call;
        inner.cbid = call.domain == kRuntimeDomain ? driver_function(call.cbid) : 0;
        inner.domain = kDriverDomain;
        if (inner.cbid == 0) {
            if (call.domain == kDriverDomain && launch.symbol != nullptr) run_kernel(launch.symbol);
            return;
        }
        if (const void* of_launch = launch.for_function(function_name(kDriverDomain, inner.cbid)))
            inner.arguments = of_launch;
        call_back_api(inner, kEnter);
        if (launch.symbol != nullptr) run_kernel(launch.symbol);
        call_back_api(inner, kExit);
    }

    void rewrite(const ScriptRecord& record, const Fields& fields) {
        for (std::uint32_t offset : {fields.start, fields.end}) {
            if (offset == 0) continue;
            auto time = read<std::uint64_t>(bytes_, offset);
            if (time == 0) continue;
            time += shift_;
            if (options_.paced && offset == (fields.end != 0 ? fields.end : fields.start)) wait_until(time);
            write(bytes_, offset, time);
        }
        if (options_.live && fields.process != 0) write(bytes_, fields.process, process_);
        if (!is_device_work(record.kind)) return;
        static std::atomic<std::uint32_t> works{0};
        bool zero = faults().zero_times != 0 && (works.fetch_add(1) + 1) % faults().zero_times == 0;
        if (zero) write(bytes_, fields.start, std::uint64_t{0});
        if (zero || (record.kind == kKernel && take_one(faults().unfinished)))
            write(bytes_, fields.end, std::uint64_t{0});
    }

    // One client's copy, on its clock.
    void deliver_to(std::size_t number, const ScriptRecord& record, const Fields& fields, std::uint32_t correlation,
                    bool running) {
        Client& client = clients()[number];
        alignas(8) unsigned char copy[sizeof bytes_];
        std::memcpy(copy, bytes_, record.bytes);
        for (std::uint32_t offset : {fields.start, fields.end})
            if (offset != 0) write(copy, offset, audience_.clocks[number].at(read<std::uint64_t>(copy, offset)));
        if (record.kind == kKernel) write(copy, 32, read<std::uint64_t>(copy, fields.end));  // completed
        if (record.kind == kKernel && wants(client, kSerialKernel, 0)) note_serial_kernel();
        if (record.kind == kKernel && !wants(client, kKernel, 0)) write(copy, 0, std::uint32_t{kSerialKernel});
        if (options_.live && fields.thread != 0)
            write(copy, fields.thread, static_cast<std::uint32_t>(thread_number(client)));
        if (record.kind == kDriver || record.kind == kRuntime) deliver_external_ids(number, correlation);
        deliver(client.channel, *lanes_[number], copy, record.bytes, running);
    }

    // Clients have read what they want to know by the time they were given the buffers.
    void rename_kernels(std::uint32_t turn) {
        for (Client& each : clients()) flush_lanes(each.channel, true);
        for (const ScriptRecord& record : script_.records) {
            if (record.kind != kKernel) continue;
            auto* name = reinterpret_cast<char*>(read<std::uint64_t>(record.at, 104));
            if (*name != 0) *name = static_cast<char>('0' + turn % 10);
        }
    }

    void deliver_external_ids(std::size_t number, std::uint32_t correlation) {
        Client& client = clients()[number];
        if (!wants(client, kExternalCorrelation, 0)) return;
        for (const auto& [kind, ids] : audience_.ids[number]) {
            if (ids.empty()) continue;
            unsigned char record[24] = {};
            write(record, 0, std::uint32_t{kExternalCorrelation});
            write(record, 4, kind);
            write(record, 8, ids.back());
            write(record, 16, correlation);
            deliver(client.channel, *lanes_[number], record, sizeof record);
        }
    }

    static void wait_until(std::uint64_t time) {
        std::uint64_t now = now_ns();
        if (time > now) std::this_thread::sleep_for(std::chrono::nanoseconds(time - now));
    }

    const Script& script_;
    const Options& options_;
    const Audience& audience_;
    std::uint64_t shift_ = 0;
    std::array<Lane*, kClients> lanes_{};
    std::uint32_t correlation_ = 0, process_ = 0;
    alignas(8) unsigned char bytes_[512] = {};
};

// CUPTI tells of a context when it is made, which is before its first work.
void tell_of_context() {
    static std::once_flag once;
    std::call_once(once, [] { tell_of_contexts(); });
}

std::atomic<const Script*> played{nullptr};

}  // namespace

const Script* last_played() { return played.load(); }

int play(const Script& script, const std::string& text) {
    Options options;
    if (!parse(text, options)) return 1;
    played.store(&script);
    deliver_owed_devices(script);
    tell_of_context();
    Audience audience;
    std::uint64_t shift = options.moved ? now_ns() - script.first_ns : 0;
    if (options.inline_) {
        Player(script, options, audience, shift).play(~0u, options.first);
        end_contexts();
        return 0;
    }
    // All players are there before the first one plays: none takes over the lane, and with it the buffer, of one that has
    // ended, so that which records share a buffer does not depend on how threads are scheduled.
    std::deque<Player> players;
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < options.copies * script.lanes; ++i)
        players.emplace_back(script, options, audience, shift);
    for (std::uint32_t i = 0; i < players.size(); ++i)
        threads.emplace_back([&, i] { players[i].play(i % script.lanes, options.first + i / script.lanes); });
    for (std::thread& thread : threads) thread.join();
    return 0;
}

void call_function(std::uint32_t domain, std::uint32_t cbid) {
    static std::atomic<std::uint32_t> calls{0};
    std::uint32_t correlation = 0x40000000u + calls.fetch_add(1);  // apart from those of scripts
    std::uint64_t start = now_ns();
    ApiCall call{domain, cbid, correlation};
    call_back_api(call, kEnter);
    std::uint32_t kind = domain == kDriverDomain ? kDriver : kRuntime;
    for (Client& each : clients()) {
        if (!wants(each, kind, cbid)) continue;
        unsigned char record[40] = {};
        Fields fields = fields_of(kind);
        write(record, 0, kind);
        write(record, 4, cbid);
        write(record, fields.start, start);
        write(record, fields.end, now_ns());
        write(record, fields.process, static_cast<std::uint32_t>(getpid()));
        write(record, fields.thread, static_cast<std::uint32_t>(thread_number(each)));
        write(record, fields.correlation, correlation);
        Lane& lane = take_lane(each.channel);
        deliver(each.channel, lane, record, sizeof record);
        leave_lane(lane);
    }
    call_back_api(call, kExit);
}

}  // namespace fake_cupti
