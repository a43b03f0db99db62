#include "io/importers/kineto/groups.h"

#include <fmt/format.h>

#include <map>
#include <tuple>
#include <unordered_map>

#include "core/base/text/rank_list.h"

namespace gpuprof::inline importers::kineto {
namespace {

// The rows of the host's records, by external id. The first of several with one id counts.
using HostRecords = std::unordered_map<std::int64_t, Row>;

HostRecords index_host_records(const CollectiveTable& collective) {
    HostRecords index;
    for (Row row = 0; row < collective.rows; ++row)
        if (!collective.correlation.has(row) && collective.external_id.has(row))
            index.emplace(collective.external_id[row], row);
    return index;
}

// The host's record of a kernel's collective; kNoRow if there is none.
Row host_record(const CollectiveTable& collective, const HostRecords& hosts, Row row) {
    if (!collective.correlation.has(row) || !collective.external_id.has(row)) return kNoRow;
    auto found = hosts.find(collective.external_id[row]);
    return found == hosts.end() || collective.name.get(found->second) != collective.name.get(row) ? kNoRow
                                                                                                  : found->second;
}

// Fills the absent values of kernels from their host's records.
template <class T>
void inherit(Column<T>& column, const CollectiveTable& collective, const HostRecords& hosts) {
    if (column.none_present() || column.all_present()) return;
    Column<T> filled;
    for (Row row = 0; row < collective.rows; ++row) {
        Row host = column.has(row) ? row : host_record(collective, hosts, row);
        if (host != kNoRow && column.has(host)) filled.set(row, column[host]);
    }
    filled.pad(collective.rows);
    column = std::move(filled);
}

// A group as a row describes it; absent parts are empty.
struct Claim {
    StringId ranks, name;
    std::optional<std::int64_t> size;
    auto operator<=>(const Claim&) const = default;
};

class Groups {
public:
    Groups(Batch& rows, std::span<const GroupEntry> entries) : rows_(rows) {
        for (const GroupEntry& entry : entries) {
            std::optional<RecordedRanks> recorded = parse_recorded_ranks(entry.ranks);
            if (!recorded || !recorded->whole() || recorded->listed.empty()) continue;
            auto size = static_cast<std::int64_t>(recorded->listed.size());
            if (entry.size.value_or(size) == size) by_name_.emplace(entry.name, recorded->sorted());
        }
    }

    // The compact text of the group, or kNoString.
    StringId resolve(const Claim& claim) {
        auto [known, added] = resolved_.try_emplace(claim, kNoString);
        if (added)
            if (std::optional<std::string> text = find(claim)) known->second = rows_.intern(*text);
        return known->second;
    }

private:
    std::optional<std::string> find(const Claim& claim) const {
        std::optional<RecordedRanks> recorded;
        if (claim.ranks != kNoString) {
            std::string_view text = rows_.strings[claim.ranks];
            if (!text.starts_with('[')) return std::string(text);  // complete already
            recorded = parse_recorded_ranks(text);
        }
        auto fits = [&](const RankList& ranks) {
            return claim.size.value_or(static_cast<std::int64_t>(ranks.size())) ==
                   static_cast<std::int64_t>(ranks.size());
        };
        if (recorded && recorded->whole()) {
            RankList ranks = recorded->sorted();
            return fits(ranks) ? std::optional(format_ranks(ranks)) : std::nullopt;
        }
        if (claim.name == kNoString) return std::nullopt;
        const RankList* only = nullptr;
        auto [begin, end] = by_name_.equal_range(rows_.strings[claim.name]);
        for (auto entry = begin; entry != end; ++entry) {
            const RankList& ranks = entry->second;
            if (!fits(ranks) || (recorded && !recorded->cut_from(ranks))) continue;
            if (only != nullptr && *only != ranks) return std::nullopt;  // two groups of one name
            only = &ranks;
        }
        return only == nullptr ? std::nullopt : std::optional(format_ranks(*only));
    }

    Batch& rows_;
    std::multimap<std::string, RankList, std::less<>> by_name_;
    std::map<Claim, StringId> resolved_;
};

// Lists of ranks become compact or absent.
void complete_ranks(Batch& rows, Groups& groups, const HostRecords& hosts, std::string_view file) {
    CollectiveTable& collective = rows.tables.collective;
    Column<StringId> completed;
    std::map<Claim, bool> lost;
    for (Row row = 0; row < collective.rows; ++row) {
        Claim claim{collective.ranks.value_or(row, kNoString), collective.group.value_or(row, kNoString),
                    collective.group_size.get(row)};
        StringId text = groups.resolve(claim);
        if (Row host = host_record(collective, hosts, row); text == kNoString && host != kNoRow)
            text = groups.resolve({collective.ranks.value_or(host, kNoString), claim.name, claim.size});
        if (text != kNoString)
            completed.set(row, text);
        else if (claim.ranks != kNoString && lost.emplace(claim, true).second)
            rows.lose(Loss::cut_ranks,
                      fmt::format("{}: group '{}'", file,
                                  claim.name == kNoString ? std::string_view() : rows.strings[claim.name]));
    }
    completed.pad(collective.rows);
    collective.ranks = std::move(completed);
}

}  // namespace

void complete_groups(Batch& rows, std::span<const GroupEntry> groups, std::string_view file) {
    CollectiveTable& collective = rows.tables.collective;
    if (collective.rows == 0) return;
    collective.close();
    HostRecords hosts = index_host_records(collective);
    Groups known(rows, groups);
    complete_ranks(rows, known, hosts, file);
    inherit(collective.group_description, collective, hosts);
    inherit(collective.seq, collective, hosts);
    inherit(collective.instance, collective, hosts);
    inherit(collective.src_rank, collective, hosts);
    inherit(collective.dst_rank, collective, hosts);
    inherit(collective.is_async, collective, hosts);
}

}  // namespace gpuprof::importers::kineto
