// The call tree as Proton writes it, in Hatchet's JSON: nested nodes with a frame and metrics, then the devices. Times
// in ns.
#include <string>
#include <vector>

#include "core/base/text/json_writer.h"
#include "io/exporters/call_tree.h"
#include "io/exporters/exporter.h"

namespace gpuprof::inline exporters {
namespace {

class HatchetExport {
public:
    HatchetExport(const Trace& trace, JsonWriter& json)
        : trace_(trace), json_(json), tree_(call_tree(trace)), below_(tree_.nodes.size() + 1) {
        for (std::uint32_t i = 0; i < tree_.nodes.size(); ++i)
            below_[tree_.nodes[i].parent == CallTree::kNone ? tree_.nodes.size() : tree_.nodes[i].parent].push_back(i);
    }

    void write() {
        json_.begin_array();
        begin("ROOT");
        json_.end_object();
        write_below();
        json_.end_object();
        write_devices();
        json_.end_array();
    }

private:
    // Up to the metrics, which stay open.
    void begin(std::string_view name) {
        json_.begin_object();
        json_.key("frame");
        json_.begin_object();
        json_.member("name", name);
        json_.member("type", std::string_view("function"));
        json_.end_object();
        json_.key("metrics");
        json_.begin_object();
    }

    // Without recursion: a hostile recording may be deeply nested.
    void write_below() {
        struct Open {
            std::size_t node, next = 0;
        };
        std::vector<Open> open{{tree_.nodes.size()}};
        json_.key("children");
        json_.begin_array();
        while (!open.empty()) {
            Open& last = open.back();
            if (last.next == below_[last.node].size()) {
                json_.end_array();
                open.pop_back();
                if (!open.empty()) json_.end_object();
                continue;
            }
            std::uint32_t child = below_[last.node][last.next++];
            const CallTree::Node& node = tree_.nodes[child];
            begin(node.name);
            if (node.device >= 0) {
                json_.member("count", node.count);
                json_.member("device_id", std::to_string(node.device));
                json_.member("device_type", std::string_view("CUDA"));
                json_.member("time (ns)", node.device_ns);
            }
            json_.end_object();
            json_.key("children");
            json_.begin_array();
            open.push_back({child});
        }
    }

    void write_devices() {
        const DeviceTable& devices = trace_.tables().device;
        json_.begin_object();
        json_.key("CUDA");
        json_.begin_object();
        for (Row row = 0; row < devices.rows; ++row) {
            if (!devices.device.has(row)) continue;
            json_.key(std::to_string(devices.device[row]));
            json_.begin_object();
            if (devices.cc_major.has(row))
                json_.member("arch", std::to_string(devices.cc_major[row] * 10 + devices.cc_minor.value_or(row, 0)));
            if (devices.sms.has(row)) json_.member("num_sms", std::int64_t{devices.sms[row]});
            json_.end_object();
        }
        json_.end_object();
        json_.end_object();
    }

    const Trace& trace_;
    JsonWriter& json_;
    CallTree tree_;
    std::vector<std::vector<std::uint32_t>> below_;  // the last entry: children of the root
};

}  // namespace

Status export_hatchet(const Trace& trace, Sink& sink) {
    JsonWriter json(sink);
    HatchetExport(trace, json).write();
    sink.write("\n");
    return {};
}

}  // namespace gpuprof::exporters
