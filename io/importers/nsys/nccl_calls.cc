#include "io/importers/nsys/nccl_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "core/base/text/ascii.h"
#include "io/importers/row_values.h"

namespace gpuprof::inline importers::nsys {
namespace {

constexpr std::size_t kHeader = 32, kSchemaAt = 8, kSizeAt = 16;

struct Integer {
    std::size_t size;  // 0: not an integer
    bool is_signed;
};

Integer integer_of(std::int64_t type) {
    constexpr Integer kTypes[] = {{0, false}, {1, true},  {1, false}, {2, true},  {2, false}, {4, true},  {4, false},
                                  {8, true},  {8, false}, {8, true},  {8, false}, {1, true},  {1, false}, {2, true},
                                  {2, false}, {4, true},  {4, false}, {8, true},  {8, false}};
    constexpr std::int64_t kSize = 22;  // size_t
    if (type == kSize) return {8, false};
    return type > 0 && type < std::ssize(kTypes) ? kTypes[type] : Integer{0, false};
}

std::uint64_t read_unsigned(std::string_view bytes, std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
    return value;
}

}  // namespace

void NvtxPayloads::add_field(std::int64_t domain, std::int64_t schema, std::int64_t type, std::int64_t offset,
                             std::string_view name) {
    Integer integer = integer_of(type);
    if (integer.size == 0 || offset < 0 || name.empty()) return;
    Field field{static_cast<std::uint64_t>(offset), integer.size, integer.is_signed};
    auto [known, added] = schemas_[{domain, schema}].fields.try_emplace(std::string(name), field);
    if (!added && known->second != field) known->second.reset();
}

NvtxPayloads::Values NvtxPayloads::decode(std::int64_t domain, std::string_view bytes) const {
    if (bytes.size() < kHeader) return {};
    auto schema = schemas_.find({domain, static_cast<std::int64_t>(read_unsigned(bytes, kSchemaAt, 4))});
    std::uint64_t size = read_unsigned(bytes, kSizeAt, 8);
    if (schema == schemas_.end() || size > bytes.size() - kHeader) return {};
    Values values;
    for (const auto& [name, field] : schema->second.fields) {
        if (!field || field->offset > size || field->size > size - field->offset) continue;
        std::uint64_t raw = read_unsigned(bytes, kHeader + static_cast<std::size_t>(field->offset), field->size);
        unsigned unused = static_cast<unsigned>(64 - 8 * field->size);
        auto value = static_cast<std::int64_t>(raw << unused);
        values.emplace(name, field->is_signed ? value >> unused : static_cast<std::int64_t>(raw));
    }
    return values;
}

namespace {

constexpr std::string_view kGroupEnd = "ncclGroupEnd";

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = to_lower(c);
    return result;
}

std::optional<std::int64_t> value_of(const NvtxPayloads::Values& payload, std::string_view field) {
    auto found = payload.find(field);
    return found == payload.end() ? std::nullopt : std::optional(found->second);
}

void put_rank(Column<std::int32_t>& column, Row row, std::optional<std::int64_t> rank) {
    if (rank && *rank >= 0 && *rank <= INT32_MAX) column.set(row, static_cast<std::int32_t>(*rank));
}

// Elements of the two messages, as NCCL defines the size that it annotates: what one rank contributes to or, in a
// reduce-scatter, receives from the others.
struct Messages {
    std::optional<std::int64_t> in, out;
};
Messages messages_of(std::string_view name, std::int64_t bytes, std::optional<std::int64_t> ranks) {
    constexpr std::int64_t kMost = std::int64_t{1} << 62;
    std::optional<std::int64_t> all;
    if (ranks && *ranks > 0 && bytes <= kMost / *ranks) all = bytes * *ranks;
    if (name == "send") return {bytes, {}};
    if (name == "recv") return {{}, bytes};
    if (name == "allgather") return {bytes, all};
    if (name == "reducescatter") return {all, bytes};
    return {bytes, bytes};
}

}  // namespace

void NcclCalls::add(std::string_view name, StringId process, StringId thread, TimeNs start, TimeNs end,
                    const NvtxPayloads::Values& payload) {
    if (!name.starts_with(kPrefix)) return;
    if (name == kGroupEnd) {
        calls_[thread].push_back({"", process, start, end, 0, 0, {}, {}});
        return;
    }
    std::optional<std::int64_t> communicator = value_of(payload, "NCCL communicator ID"),
                                bytes = value_of(payload, "Message size [bytes]");
    if (!communicator) return;
    if (auto ranks = value_of(payload, "No. of ranks"))
        members_[{process, *communicator}] = {ranks, value_of(payload, "Rank")};
    bool is_kernel = payload.contains("Algorithm");  // NCCL's record of a kernel, in addition to that of the call
    if (!bytes || *bytes < 0 || is_kernel) return;
    calls_[thread].push_back({lower(name.substr(kPrefix.size())), process, start, end, *communicator, *bytes,
                              value_of(payload, "Peer rank"), value_of(payload, "Root")});
}

std::map<StringId, NcclCalls::Launches> NcclCalls::launches_of(const Batch& batch) const {
    const KernelTable& kernel = batch.tables.kernel;
    std::vector<bool> known(batch.strings.size()), is_nccl(batch.strings.size());
    std::set<std::pair<StringId, std::int64_t>> kernels;  // process and correlation
    for (Row row = 0; row < kernel.rows; ++row) {
        if (!kernel.name.has(row) || !kernel.correlation.has(row) || !kernel.process.has(row)) continue;
        std::size_t name = index_of(kernel.name[row]);
        if (!known[name]) is_nccl[name] = lower(batch.strings[kernel.name[row]]).starts_with(kPrefix);
        known[name] = true;
        if (is_nccl[name]) kernels.emplace(kernel.process[row], kernel.correlation[row]);
    }
    std::map<StringId, Launches> launches;
    const ApiCallTable& call = batch.tables.api_call;
    for (Row row = 0; row < call.rows && !kernels.empty(); ++row)
        if (call.correlation.has(row) && call.thread.has(row) && call.process.has(row) &&
            kernels.contains({call.process[row], call.correlation[row]}))
            launches[call.thread[row]].emplace(call.start[row], call.correlation[row]);
    return launches;
}

void NcclCalls::write(Batch& batch) {
    if (calls_.empty()) return;
    batch.tables.kernel.close();
    batch.tables.api_call.close();
    std::map<StringId, Launches> launches = launches_of(batch);
    for (auto& [thread, calls] : calls_) write_thread(batch, calls, launches[thread]);
}

// Calls of a group have no launch of their own. They share the one of the group's end; if it launched several kernels,
// which one executes a call is unknown.
void NcclCalls::write_thread(Batch& batch, std::vector<Call>& calls, const Launches& launches) {
    std::stable_sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) { return a.start < b.start; });
    std::vector<const Call*> waiting;
    auto flush = [&](std::optional<std::int64_t> correlation) {
        for (const Call* call : waiting) write_call(batch, *call, correlation);
        waiting.clear();
    };
    for (const Call& call : calls) {
        auto first = launches.lower_bound(call.start);
        auto after = launches.upper_bound(std::max(call.start, call.end));
        auto count = std::distance(first, after);
        if (!call.name.empty() && count == 0)
            waiting.push_back(&call);
        else if (!call.name.empty())
            write_call(batch, call, first->second);
        else if (count > 0)
            flush(count == 1 ? std::optional(first->second) : std::nullopt);
    }
    flush(std::nullopt);
}

void NcclCalls::write_call(Batch& batch, const Call& call, std::optional<std::int64_t> correlation) {
    auto found = members_.find({call.process, call.communicator});
    Member member = found == members_.end() ? Member{} : found->second;
    CollectiveTable& table = batch.tables.collective;
    Row row = table.add();
    table.process.set(row, call.process);
    set_known(table.correlation, row, correlation);
    table.name.set(row, batch.intern(call.name));
    table.type.set(row, batch.intern("Byte"));  // sizes are in bytes
    Messages messages = messages_of(call.name, call.bytes, member.ranks);
    set_known(table.in_elements, row, messages.in);
    set_known(table.out_elements, row, messages.out);
    set_known(table.group_size, row, member.ranks);
    table.communicator.set(row, batch.intern(fmt::format("{:#018x}", static_cast<std::uint64_t>(call.communicator))));
    bool receives = call.name == "recv", rooted_at_receiver = call.name == "reduce" || call.name == "gather";
    put_rank(receives ? table.src_rank : table.dst_rank, row, call.peer);
    put_rank(rooted_at_receiver ? table.dst_rank : table.src_rank, row, call.peer ? std::nullopt : call.root);
}

}  // namespace gpuprof::importers::nsys
