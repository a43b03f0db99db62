#include "cli/ranks/anonymous.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/build/merge_traces.h"
#include "core/model/privacy/scrub.h"

namespace gpuprof::inline cli {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != text.npos && !from.empty(); at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

struct Told {
    std::string file, reason;
};

// A reason often names a file, its summary or a host; what still looks like a path or a host is withheld.
class Reasons {
public:
    explicit Reasons(const Trace& job) : job_(job) {
        const RankTable& ranks = job.tables().rank;
        for (Row row = 0; row < ranks.rows; ++row)
            if (ranks.host.has(row)) hosts_.insert(std::string(job.text(ranks.host[row])));
    }

    std::vector<Told> told() {
        const RankTable& ranks = job_.tables().rank;
        std::vector<Told> rows(ranks.rows);
        for (Row row = 0; row < ranks.rows; ++row) {
            std::string path(job_.text(ranks.file.value_or(row, kNoString)));
            if (!path.empty())
                rows[row].file = names_.try_emplace(path, fmt::format("file-{}", names_.size() + 1)).first->second;
            rows[row].reason =
                without_names(std::string(job_.text(ranks.reason.value_or(row, kNoString))), path, rows[row].file);
        }
        return rows;
    }

private:
    std::string without_names(std::string reason, const std::string& path, const std::string& file) const {
        replace_all(reason, path, file);
        replace_all(reason, last_part(path), file);
        bool private_text = reason.find('/') != reason.npos;
        for (const std::string& host : hosts_) private_text |= reason.find(host) != reason.npos;
        return private_text ? "withheld, because it names a path or a host" : reason;
    }

    const Trace& job_;
    std::set<std::string> hosts_;
    std::map<std::string, std::string> names_;
};

}  // namespace

Trace anonymous_job(Trace job) {
    std::vector<Told> told = Reasons(job).told();
    Batch rows = batch_of(scrubbed(std::move(job), {}));
    RankTable& ranks = rows.tables.rank;
    auto refill = [&](Column<StringId>& column, std::string Told::*text) {
        Column<StringId> made;
        for (Row row = 0; row < ranks.rows; ++row)
            if (!(told[row].*text).empty()) made.set(row, rows.strings.intern(told[row].*text));
        made.pad(ranks.rows);
        column = std::move(made);
    };
    refill(ranks.file, &Told::file);
    refill(ranks.reason, &Told::reason);
    TraceBuilder builder({"job", "ranks", {}});
    builder.append(std::move(rows));
    return std::move(builder).finish();
}

}  // namespace gpuprof::cli
