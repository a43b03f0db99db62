#include "cli/ranks/several_jobs.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/base/text/rank_list.h"

namespace gpuprof::inline cli {
namespace {

constexpr DurNs kRestart = 600'000'000'000;  // clocks of hosts are never that far apart

class Splitter {
public:
    explicit Splitter(const std::vector<JobFile>& files) : files_(files) {}

    std::vector<JobFiles> split() const {
        JobFiles all(files_.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        std::vector<JobFiles> jobs;
        for (const JobFiles& of_size : by_world(all))
            for (const JobFiles& of_groups : by_groups(of_size))
                for (JobFiles& attempt : by_time(of_groups)) jobs.push_back(std::move(attempt));
        for (JobFiles& job : jobs) std::sort(job.begin(), job.end());
        auto begin = [&](const JobFiles& job) {
            return std::accumulate(job.begin(), job.end(), files_[job.front()].from,
                                   [&](TimeNs least, std::size_t file) { return std::min(least, files_[file].from); });
        };
        std::sort(jobs.begin(), jobs.end(), [&](const JobFiles& a, const JobFiles& b) {
            return std::pair(begin(a), a.front()) < std::pair(begin(b), b.front());
        });
        return jobs;
    }

private:
    // A file of unknown size belongs to the largest job.
    std::vector<JobFiles> by_world(const JobFiles& all) const {
        std::map<std::int64_t, JobFiles> sizes;
        for (std::size_t file : all) sizes[files_[file].world].push_back(file);
        if (auto unknown = sizes.find(0); unknown != sizes.end() && sizes.size() > 1) {
            JobFiles rest = std::move(unknown->second);
            sizes.erase(unknown);
            auto largest = std::max_element(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) {
                return a.second.size() < b.second.size();
            });
            largest->second.insert(largest->second.end(), rest.begin(), rest.end());
        }
        std::vector<JobFiles> found;
        for (auto& [size, files] : sizes) found.push_back(std::move(files));
        return found;
    }

    // Files that know a common group, directly or through others.
    std::vector<JobFiles> connected(const JobFiles& files) const {
        std::vector<std::size_t> root(files.size());  // positions in `files`
        std::iota(root.begin(), root.end(), std::size_t{0});
        auto find = [&](std::size_t at) {
            while (root[at] != at) at = root[at] = root[root[at]];
            return at;
        };
        std::unordered_map<std::int64_t, std::size_t> knows;  // by group: a file
        for (std::size_t i = 0; i < files.size(); ++i)
            for (std::int64_t group : files_[files[i]].groups)
                root[find(knows.try_emplace(group, i).first->second)] = i;
        std::map<std::size_t, JobFiles> parts;  // by the last file
        for (std::size_t i = files.size(); i-- > 0;) parts[find(i)].push_back(files[i]);
        std::vector<JobFiles> found;
        for (auto& [last, part] : parts) found.push_back(std::move(part));
        return found;
    }

    bool lists(const JobFiles& part, const JobFiles& other) const {
        return std::any_of(part.begin(), part.end(), [&](std::size_t file) {
            return files_[file].whole && std::any_of(other.begin(), other.end(), [&](std::size_t each) {
                       const std::vector<std::int32_t>& ranks = files_[each].ranks;
                       return files_[each].whole && std::any_of(ranks.begin(), ranks.end(), [&](std::int32_t rank) {
                                  return files_[file].lists(rank);
                              });
                   });
        });
    }

    // Parts that never communicate may be one job.
    std::vector<JobFiles> by_groups(const JobFiles& files) const {
        std::vector<JobFiles> parts = connected(files), jobs;
        std::stable_sort(parts.begin(), parts.end(),
                         [](const JobFiles& a, const JobFiles& b) { return a.size() > b.size(); });
        for (JobFiles& part : parts) {
            auto fits = std::find_if(jobs.begin(), jobs.end(),
                                     [&](const JobFiles& job) { return !(lists(job, part) && lists(part, job)); });
            if (fits == jobs.end())
                jobs.push_back(std::move(part));
            else
                fits->insert(fits->end(), part.begin(), part.end());
        }
        return jobs;
    }

    std::size_t most_of_one_rank(const JobFiles& files) const {
        std::map<std::int32_t, std::size_t> times;
        std::size_t most = 0;
        for (std::size_t file : files)
            for (std::int32_t rank : files_[file].ranks) most = std::max(most, ++times[rank]);
        return most;
    }

    // A file without times belongs to the first attempt.
    std::vector<JobFiles> by_time(JobFiles files) const {
        auto untimed = std::stable_partition(files.begin(), files.end(),
                                             [&](std::size_t file) { return files_[file].to > files_[file].from; });
        JobFiles others(untimed, files.end());
        files.erase(untimed, files.end());
        if (files.empty()) return {others};
        std::stable_sort(files.begin(), files.end(),
                         [&](std::size_t a, std::size_t b) { return files_[a].from < files_[b].from; });
        struct Gap {
            DurNs length;
            std::size_t before;  // position in `files`
        };
        std::vector<Gap> gaps;
        TimeNs recorded_to = files_[files.front()].to;
        for (std::size_t i = 1; i < files.size(); ++i) {
            if (files_[files[i]].from > recorded_to) gaps.push_back({files_[files[i]].from - recorded_to, i});
            recorded_to = std::max(recorded_to, files_[files[i]].to);
        }
        std::stable_sort(gaps.begin(), gaps.end(), [](const Gap& a, const Gap& b) { return a.length > b.length; });
        std::set<std::size_t> ends;
        std::size_t attempts = most_of_one_rank(files);
        for (const Gap& gap : gaps)
            if (ends.size() + 1 < attempts || gap.length > kRestart) ends.insert(gap.before);
        std::vector<JobFiles> found(1);
        for (std::size_t i = 0; i < files.size(); ++i) {
            if (ends.contains(i)) found.emplace_back();
            found.back().push_back(files[i]);
        }
        found.front().insert(found.front().end(), others.begin(), others.end());
        return found;
    }

    const std::vector<JobFile>& files_;
};

std::string common_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

bool is_missing(const Trace& summary, Row rank) {
    return summary.text(summary.tables().rank.status.value_or(rank, kNoString)) == "missing";
}

JobFile JobFile::of(const Trace& summary, std::string path) {
    JobFile file;
    file.path = std::move(path);
    bool timed = false;
    const RankTable& ranks = summary.tables().rank;
    for (Row row = 0; row < ranks.rows; ++row) {
        if (!ranks.rank.has(row) || is_missing(summary, row)) continue;
        if (ranks.from_time.has(row)) {
            bool first = std::exchange(timed, true);
            file.from = first ? std::min(file.from, ranks.from_time[row]) : ranks.from_time[row];
        }
        file.to = std::max(file.to, ranks.to_time.value_or(row, 0));
        file.world = std::max(file.world, std::int64_t{ranks.world_size.value_or(row, 0)});
        file.whole &= summary.text(ranks.status.value_or(row, kNoString)) == "whole";
        file.ranks.push_back(ranks.rank[row]);
    }
    const RankGroupTable& groups = summary.tables().rank_group;
    RankLists lists;
    for (Row row = 0; row < groups.rows; ++row) {
        if (groups.group_id.has(row)) file.groups.insert(groups.group_id[row]);
        if (!groups.ranks.has(row)) continue;
        std::optional<RankList> listed = lists.parse(summary.text(groups.ranks[row]));
        if (listed) file.group_ranks.insert(file.group_ranks.end(), listed->begin(), listed->end());
    }
    std::sort(file.group_ranks.begin(), file.group_ranks.end());
    file.group_ranks.erase(std::unique(file.group_ranks.begin(), file.group_ranks.end()), file.group_ranks.end());
    return file;
}

std::vector<JobFiles> split_jobs(const std::vector<JobFile>& files) {
    return files.empty() ? std::vector<JobFiles>() : Splitter(files).split();
}

std::string describe_job(const std::vector<JobFile>& files, const JobFiles& job, std::size_t number) {
    std::set<std::int32_t> ranks;
    std::vector<std::string> names;
    std::int64_t world = 0;
    TimeNs from = files[job.front()].from;
    for (std::size_t file : job) {
        ranks.insert(files[file].ranks.begin(), files[file].ranks.end());
        names.push_back(common_name(files[file].path));
        world = std::max(world, files[file].world);
        from = std::min(from, files[file].from);
    }
    std::sort(names.begin(), names.end());
    constexpr std::int64_t kNsPerSecond = 1'000'000'000;
    std::string text =
        fmt::format("job {} has {} file{}: ranks {}{}, recorded from {:%Y-%m-%d %H:%M:%S} UTC, {}", number, job.size(),
                    job.size() == 1 ? "" : "s", format_ranks(RankList(ranks.begin(), ranks.end())),
                    world > 0 ? fmt::format(" of {}", world) : "",
                    fmt::gmtime(static_cast<std::time_t>(from / kNsPerSecond)), names.front());
    if (names.size() > 1) text += fmt::format("{}{}", names.size() > 2 ? " to " : " and ", names.back());
    return text;
}

}  // namespace gpuprof::cli
