// Importer for the trees that Proton (Triton's profiler) and others write for Hatchet: JSON, a list of roots with
// `frame`, `metrics` and `children`, and facts about the devices. Proton also writes the same as MessagePack.
// Format: triton, third_party/proton; Hatchet's literal format, https://hatchet.readthedocs.io.
#include "io/importers/formats.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/importers/device_names.h"
#include "io/importers/row_values.h"
#include "io/importers/source/json_document.h"
#include "io/importers/source/memory_limit.h"
#include "io/importers/source/msgpack.h"
#include "io/importers/source/read_all.h"

namespace gpuprof::inline importers {
namespace {

using simdjson::dom::element;

// Metrics that say where a node belongs, not what it measured.
bool names_device(std::string_view metric) { return metric == "device_id" || metric == "device"; }
bool is_place(std::string_view metric) { return names_device(metric) || metric == "device_type"; }

std::optional<std::int32_t> device_number(const element& value) {
    std::int64_t number = 0;
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) return device_ordinal(text);
    if (value.get(number) != simdjson::SUCCESS || number < 0) return std::nullopt;
    return device_ordinal(std::to_string(number));
}

// Proton's scope around the functions that tell it what a kernel does (its bytes, its operations). What runs there is
// its own work, not the program's. Later versions add the kernel's name after a colon.
bool is_own_scope(std::string_view name) {
    constexpr std::string_view kScope = "__proton_launch_metadata";
    return name.starts_with(kScope) && (name.size() == kScope.size() || name[kScope.size()] == ':');
}

class Forest {
public:
    // `besides` is the memory held apart from the rows.
    Forest(Batch& batch, Source& source, std::size_t other_bytes)
        : batch_(batch), limit_(source), other_bytes_(other_bytes) {}

    // Parents before their children, in file order.
    Status take(const element& root) {
        pending_.push_back({root, std::nullopt});
        while (!pending_.empty()) {
            auto [at, parent] = pending_.back();
            pending_.pop_back();
            node(at, parent);
            if (limit_.is_below(batch_, other_bytes_ + pending_.capacity() * sizeof pending_[0])) return limit_.error();
        }
        return {};
    }
    // {"CUDA": {"0": {"arch": "90", "num_sms": 132, ...}}}
    void take_devices(const element& devices) {
        simdjson::dom::object kinds, of_kind;
        if (devices.get(kinds) != simdjson::SUCCESS) return;
        for (auto [kind, value] : kinds)
            if (value.get(of_kind) == simdjson::SUCCESS)
                for (auto [ordinal, facts] : of_kind) device(kind, ordinal, facts);
    }

private:
    void node(const element& at, std::optional<std::int64_t> parent) {
        CallNodeTable& table = batch_.tables.call_node;
        std::int64_t number = next_++;
        Row row = table.add();
        table.node.set(row, number);
        set_known(table.parent, row, parent);
        std::string_view name;
        if (at["frame"]["name"].get(name) == simdjson::SUCCESS) table.name.set(row, batch_.intern(name));
        simdjson::dom::object metrics;
        if (at["metrics"].get(metrics) == simdjson::SUCCESS)
            for (auto [key, value] : metrics) {
                if (names_device(key)) set_known(table.device, row, device_number(value));
                if (!is_place(key)) metric(number, key, value);
            }
        simdjson::dom::array children;
        if (at["children"].get(children) != simdjson::SUCCESS) return;
        std::size_t first = pending_.size();
        for (element child : children) {
            std::string_view child_name;
            if (child["frame"]["name"].get(child_name) == simdjson::SUCCESS && is_own_scope(child_name))
                batch_.lose_named(Loss::recorder_work, "", child_name.substr(0, child_name.find(':')));
            else if (child.is_object())
                pending_.push_back({child, number});
        }
        std::reverse(pending_.begin() + static_cast<std::ptrdiff_t>(first), pending_.end());
    }

    // The unit of "time (ns)" is in the name; "(inc)" means that children are included and is not a unit.
    void metric(std::int64_t node, std::string_view name, const element& value) {
        if (value.is_array()) return batch_.lose_named(Loss::unread_table, "", fmt::format("vector metric {}", name));
        double number = 0;
        if (value.get(number) != simdjson::SUCCESS || !std::isfinite(number))
            return batch_.lose(Loss::bad_number, name);
        std::string_view unit;
        std::size_t open = name.rfind(" (");
        if (open != name.npos && name.ends_with(')') && !name.ends_with("(inc)")) {
            unit = name.substr(open + 2, name.size() - open - 3);
            name = name.substr(0, open);
        }
        add_call_metric(batch_, node, name, unit, number);
    }

    void device(std::string_view kind, std::string_view ordinal, const element& facts) {
        std::optional<std::int32_t> number = device_ordinal(ordinal);
        if (!number) return;
        DeviceTable& table = batch_.tables.device;
        Row row = table.add();
        table.device.set(row, *number);
        set_text(batch_, table.vendor, row, vendor_of_kind(kind));
        std::int64_t sms = 0;
        if (facts["num_sms"].get(sms) == simdjson::SUCCESS && sms > 0 && sms < 1 << 20)
            table.sms.set(row, static_cast<std::int32_t>(sms));
        std::string_view arch;
        std::int32_t cc = 0;
        if (kind != "CUDA" || facts["arch"].get(arch) != simdjson::SUCCESS) return;
        auto read = std::from_chars(arch.data(), arch.data() + arch.size(), cc);
        if (read.ec != std::errc{} || cc < 10 || cc > 10000) return;
        table.cc_major.set(row, cc / 10);
        table.cc_minor.set(row, cc % 10);
    }

    Batch& batch_;
    MemoryLimit limit_;
    std::size_t other_bytes_;
    std::vector<std::pair<element, std::optional<std::int64_t>>> pending_;
    std::int64_t next_ = 0;
};

// The first byte of a list; no text begins with one.
bool is_msgpack_list(std::string_view head) {
    auto first = static_cast<unsigned char>(head.empty() ? 0 : head[0]);
    return (first & 0xF0) == 0x90 || first == 0xDC || first == 0xDD;
}

Result<element> read_tree(JsonDocument& document, Source& source, std::string& cut) {
    if (!is_msgpack_list(source.head())) return document.read(source, JsonDocument::kMaxDepth);
    constexpr std::size_t kMaxBytes = std::size_t{512} << 20, kDeepest = JsonDocument::kMaxDepth - 1;
    Result<std::string> bytes = read_all(source, kMaxBytes);
    if (!bytes.ok()) return bytes.error();
    MsgpackText text = json_of_msgpack(*bytes, kDeepest);
    cut = std::move(text.cut);
    return document.parse(std::move(text.json), source, JsonDocument::kMaxDepth);
}

}  // namespace

int sniff_proton(std::string_view head) {
    if (is_msgpack_list(head)) {
        bool tree = head.find(
                        "\xA5"
                        "frame") != head.npos &&
                    head.find("\xA7metrics") != head.npos;
        return tree ? 85 : 0;
    }
    std::size_t begin = head.find_first_not_of(" \t\r\n");
    if (begin == head.npos || head[begin] != '[') return 0;
    auto has = [head](std::string_view part) { return head.find(part) != head.npos; };
    if (has("\"frame\"") && has("\"metrics\"") && !has("\"ph\"")) return 85;
    return has("\"children\"") ? 40 : 0;
}

Status import_proton(Source& source, TraceBuilder& builder) {
    JsonDocument document;
    std::string cut;
    Result<element> root = read_tree(document, source, cut);
    if (!root.ok()) return root.error();
    simdjson::dom::array items;
    if (root->get(items) != simdjson::SUCCESS)
        return Error{ExitCode::unreadable,
                     fmt::format("cannot read {}: not a Hatchet tree: expected a JSON list", source.name())};
    Batch batch;
    Forest forest(batch, source, document.bytes());
    for (element item : items) {
        element known;
        // In a truncated tree the root may have no frame yet: it comes after the children.
        bool tree = item["frame"].get(known) == simdjson::SUCCESS || item["children"].get(known) == simdjson::SUCCESS;
        if (!tree) {
            forest.take_devices(item);
        } else if (Status taken = forest.take(item); !taken) {
            return taken.error();
        }
    }
    if (cut.empty()) cut = document.cut();
    if (!cut.empty()) batch.lose(Loss::truncated, cut);
    if (source.damaged()) batch.lose(Loss::bad_compression, source.name());
    builder.set_tool("Proton");
    builder.append(std::move(batch));
    return {};
}

}  // namespace gpuprof::importers
