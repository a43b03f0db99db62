// `links`: transfers by the hosts that they connect, beside equal ones elsewhere. A slow link shows in every group that
// crosses it.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyze/facts/stat.h"
#include "analyze/tables/cells.h"
#include "core/base/text/rank_list.h"
#include "ranks/clocks/clocks.h"
#include "ranks/match/match.h"
#include "ranks/price/peers.h"
#include "ranks/price/quantile.h"
#include "ranks/tables/job_analyses.h"
#include "ranks/thresholds.h"

namespace gpuprof::inline ranks {
namespace {

constexpr std::size_t kMostNames = 4;  // of hosts that are written out

struct Link {
    std::vector<double> ratios;
    WideSum transfer;
    std::set<std::uint32_t> hosts;

    double ratio() const { return median_of(ratios); }
    bool slow() const { return ratio() >= kSlowerTransfer; }
};

std::string names_of(const std::set<std::uint32_t>& hosts, const JobHosts& known) {
    std::string text;
    std::size_t count = 0;
    for (std::uint32_t host : hosts) {
        if (count++ == kMostNames) return text + " and " + std::to_string(hosts.size() - kMostNames) + " more";
        text += (text.empty() ? "" : ", ") + known.hosts[host].name;
    }
    return text;
}

std::set<std::uint32_t> common_of(const std::map<std::uint32_t, Link>& links) {
    std::set<std::uint32_t> common;
    bool first = true;
    for (const auto& group : links) {
        const Link& link = group.second;  // no structured binding: clang 14 captures none
        if (!link.slow()) continue;
        if (first) common = link.hosts;
        std::erase_if(common, [&](std::uint32_t host) { return !link.hosts.contains(host); });
        first = false;
    }
    return common;
}

std::map<std::uint32_t, Link> links_of(const Facts& facts) {
    const Job& job = facts.get<Job>();
    const MatchedJob& matched = facts.get<MatchedJob>();
    const JobReplay& replay = facts.get<JobReplay>();
    const Peers& peers = facts.get<Peers>();
    const JobHosts& hosts = facts.get<JobHosts>();
    std::map<std::uint32_t, Link> links;
    for (const Instance& instance : matched.instances) {
        if (instance.count < 2 || !instance.complete) continue;
        Link& link = links[instance.group];
        for (std::uint32_t collective : matched.of(instance))
            link.hosts.insert(hosts.of_rank[job.collectives[collective].rank]);
        DurNs transfer = least_transfer(matched, instance, replay.recorded);
        DurNs usual = least_transfer(matched, instance, peers.times);
        if (usual <= 0) continue;
        link.transfer.add(transfer);
        link.ratios.push_back(static_cast<double>(transfer) / static_cast<double>(usual));
    }
    return links;
}

struct LinksRow {
    const Job::Group& group;
    const Link& link;
    double ratio;
    std::string_view connected, common;  // hosts: of the group; in all slow groups

    bool slow() const { return ratio >= kSlowerTransfer; }
};

constexpr auto kLinksColumns = columns_of<LinksRow>({
    {"hosts", CellType::text, Unit::none,
     "Hosts that the group connects; of a large one the first ones and the number.",
     [](auto& r) { return text_cell(r.connected); }},
    {"group", CellType::text, Unit::none, "Description of the group.",
     [](auto& r) { return text_cell(r.group.description); }},
    {"ranks", CellType::text, Unit::none, "Its ranks.", [](auto& r) { return text_cell(r.group.ranks_text); }},
    {"instances", CellType::integer, Unit::count, "Transfers that all of its ranks recorded.",
     [](auto& r) { return r.link.ratios.size(); }},
    {"transfer_ns", CellType::real, Unit::ns, "Mean transfer.",
     [](auto& r) { return r.link.transfer.over(r.link.ratios.size()); }},
    {"ratio", CellType::real, Unit::none,
     "Median of each transfer over the median of equal ones: of the same kind, bytes, number of ranks, and within one "
     "host or between hosts.",
     [](auto& r) { return r.ratio; }},
    {"slow", CellType::boolean, Unit::none, "The ratio is at least 1.2.", [](auto& r) { return r.slow(); }},
    {"common_hosts", CellType::text, Unit::none,
     "Of a slow group: hosts that are in all slow groups; absent without such a host.",
     [](auto& r) { return r.slow() ? text_cell(r.common) : kAbsent; }},
});

Result<ResultTable> links_table(const Facts& facts) {
    ResultTable table("links", kLinksColumns);
    if (!has_ranks(facts, table)) return table;
    const Job& job = facts.get<Job>();
    const JobHosts& hosts = facts.get<JobHosts>();
    std::map<std::uint32_t, Link> links = links_of(facts);
    std::string common = names_of(common_of(links), hosts);
    std::vector<std::pair<double, std::uint32_t>> order;
    for (const auto& [group, link] : links)
        if (!link.ratios.empty()) order.emplace_back(-link.ratio(), group);
    std::sort(order.begin(), order.end());
    for (auto [ratio, group] : order) {
        const Link& link = links.at(group);
        std::string connected = names_of(link.hosts, hosts);
        table.add(kLinksColumns, {job.groups[group], link, -ratio, connected, common});
    }
    if (table.rows() == 0) table.notes.push_back("No collective was found on all ranks of its group.");
    return table;
}

}  // namespace

const Analysis kLinks{
    "links",       "",          "Transfers by the hosts that they connect, beside equal ones elsewhere.",
    kLinksColumns, links_table, {.of_job = true}};

}  // namespace gpuprof::ranks
