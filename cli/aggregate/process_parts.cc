#include "cli/aggregate/process_parts.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "collect/launch/injection.h"
#include "collect/launch/run_folder.h"
#include "core/format/bytes.h"
#include "core/format/chunk.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::inline cli {
namespace {

constexpr std::string_view kPart = ".gpuprof", kKept = ".kept.gpuprof",
                           kWindow = ".window.gpuprof";  // in the order of their names
constexpr std::size_t kMostFacts = 64 * 1024;

std::string kept_name(const ProcessPart& part) {
    return part.file.substr(0, part.file.size() - kPart.size()).append(kKept);
}

void put_pair(std::string& to, std::string_view key, std::string_view value) {
    for (std::string_view text : {key, value}) {
        put_u32(to, static_cast<std::uint32_t>(text.size()));
        to += text;
    }
}

// Follows the last part of its process, or of a program in it.
std::string window_part(const PartFacts& last, const PastWindow& window) {
    std::string process, times, facts, content;
    put_pair(process, "pid", last.pid);
    put_pair(process, "first_part", last.first_part);
    put_pair(process, "part", std::to_string(last.number + 1));
    put_u64(times, static_cast<std::uint64_t>(window.opened));
    put_u64(times, static_cast<std::uint64_t>(window.closed));
    put_pair(facts, "trigger", std::to_string(window.trigger));
    put_pair(facts, "trigger_open_ns", std::to_string(window.open));
    put_pair(facts, "trigger_opened_ns", std::to_string(window.opened));
    put_pair(facts, meta_key::kWindowClosedAt, std::to_string(window.closed));
    std::uint32_t sequence = 0;
    for (const auto& [kind, payload] : {std::pair(ChunkKind::spool_process, &process),
                                        {ChunkKind::spool_windows, &times},
                                        {ChunkKind::spool_facts, &facts}})
        content += encode_header(kind, sequence++, *payload) + *payload;
    return content + encode_header(ChunkKind::end, sequence, "");
}

// The part may be renamed at this moment.
void link_or_copy(const ProcessPart& part, const std::string& to) {
    for (const std::string& from : {part.file, kept_name(part)}) {
        std::error_code failed;
        if (link(from.c_str(), to.c_str()) == 0 || std::filesystem::copy_file(from, to, failed)) return;
    }
}

}  // namespace

std::vector<ProcessPart> process_parts(const std::string& folder) {
    std::vector<ProcessPart> parts;
    for (const std::string& file : launch::parts_in(folder)) {
        ProcessPart part{.file = file};
        long long pid = 0, time = 0;
        int length = 0;
        struct stat about {};
        if (std::sscanf(file.c_str() + folder.size(), "/%lld-%lld%n", &pid, &time, &length) != 2 || pid <= 0) continue;
        std::string_view ending = std::string_view(file).substr(folder.size() + static_cast<std::size_t>(length));
        if (ending != kPart && ending != kKept) continue;
        if (lstat(file.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) continue;
        part.pid = pid;
        part.begin = time;
        part.end = std::max<TimeNs>(time, TimeNs{about.st_mtim.tv_sec} * 1'000'000'000 + about.st_mtim.tv_nsec);
        part.bytes = static_cast<std::uint64_t>(about.st_size);
        part.kept = ending == kKept;
        parts.push_back(std::move(part));
    }
    std::sort(parts.begin(), parts.end(), [](const ProcessPart& a, const ProcessPart& b) {
        return std::pair(a.pid, a.begin) < std::pair(b.pid, b.begin);
    });
    for (std::size_t i = 0; i < parts.size(); ++i) {
        parts[i].newest = i + 1 == parts.size() || parts[i + 1].pid != parts[i].pid;
        if (!parts[i].newest) parts[i].end = parts[i + 1].begin;
    }
    return parts;
}

std::optional<PartFacts> read_part_facts(const std::string& file) {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> open(std::fopen(file.c_str(), "rbe"), std::fclose);
    if (open == nullptr) return std::nullopt;
    std::string bytes(kMostFacts, '\0');
    bytes.resize(std::fread(bytes.data(), 1, bytes.size(), open.get()));
    std::optional<ChunkHeader> header = decode_header(bytes);
    if (!header || !header->is(ChunkKind::spool_process) || bytes.size() - kChunkHeaderBytes < header->length)
        return std::nullopt;
    std::string_view payload = std::string_view(bytes).substr(kChunkHeaderBytes, header->length);
    if (checksum(payload) != header->payload_crc) return std::nullopt;
    PartFacts facts;
    each_pair(payload, [&](std::string_view key, std::string_view value) {
        if (key == "pid") facts.pid = value;
        if (key == "first_part") facts.first_part = value;
        if (key == "part") facts.number = std::strtoull(std::string(value).c_str(), nullptr, 10);
        if (key == "rank") facts.rank = std::strtoll(std::string(value).c_str(), nullptr, 10);
    });
    return facts;
}

bool keep_part(ProcessPart& part) {
    if (part.kept) return true;
    std::string kept = kept_name(part);
    if (rename(part.file.c_str(), kept.c_str()) != 0) return false;
    part.file = std::move(kept);
    return part.kept = true;
}

void delete_old_parts(std::vector<ProcessPart>& parts, TimeNs since, std::uint64_t bytes) {
    std::uint64_t all = 0;
    std::vector<ProcessPart*> oldest_first;
    for (ProcessPart& part : parts) {
        all += part.bytes;
        if (part.kept) oldest_first.push_back(&part);
    }
    std::sort(oldest_first.begin(), oldest_first.end(), [](const auto* a, const auto* b) { return a->end < b->end; });
    for (ProcessPart* part : oldest_first) {
        if (part->end >= since && all <= bytes) break;
        all -= part->bytes;
        unlink(part->file.c_str());
        part->file.clear();
    }
    std::erase_if(parts, [](const ProcessPart& part) { return part.file.empty(); });
}

void gather_window(const std::vector<ProcessPart>& parts, std::int64_t pid, const PastWindow& window,
                   const std::string& into) {
    std::optional<PartFacts> before;
    std::string last;  // where the part that names the window goes, without its ending
    auto end_program = [&] {
        if (before && !before->first_part.empty())
            (void)launch::replace_file(last + std::string(kWindow), window_part(*before, window));
    };
    for (const ProcessPart& part : parts) {
        if (part.pid != pid || part.open) continue;
        if (part.end < window.opened || part.begin > window.closed + kDelivered) continue;
        std::optional<PartFacts> facts = read_part_facts(part.file);
        if (!facts) facts = read_part_facts(kept_name(part));
        if (facts && before && facts->first_part != before->first_part) end_program();
        std::string name = fmt::format("{}/{}-{}", into, pid, part.begin);
        link_or_copy(part, name + std::string(kPart));
        if (!facts) continue;
        before = facts;
        last = name;
    }
    end_program();
}

}  // namespace gpuprof::cli
