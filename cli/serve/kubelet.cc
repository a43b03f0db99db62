#include "cli/serve/kubelet.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/http/grpc_call.h"
#include "cli/serve/prometheus.h"
#include "io/importers/source/protobuf.h"

namespace gpuprof::inline cli {
namespace {

constexpr std::size_t kMostListBytes = std::size_t{4} << 20;
constexpr DurNs kAskAgain = 10 * kSecond, kLongestQuestion = kSecond;

// "GPU-...", "MIG-...", "MIG-GPU-.../gi/ci", each with "::N" if it is shared; without that, or "".
std::string_view uuid_of(std::string_view id) {
    constexpr std::string_view kDigits = "0123456789";
    constexpr std::size_t kLongest = 96;
    if (std::size_t at = id.find("::"); at != id.npos) {
        if (id.size() == at + 2 || id.find_first_not_of(kDigits, at + 2) != id.npos) return "";
        id = id.substr(0, at);
    }
    bool sound = (id.starts_with("GPU-") || id.starts_with("MIG-")) && id.size() <= kLongest &&
                 id.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-/") == id.npos;
    return sound ? id : "";
}

// Reads one ListPodResourcesResponse; false from any function means damage.
struct ListReader {
    PodDevices& found;

    void add(std::string_view uuid, const PodName& of) {
        PodDevices::Line line{std::string(uuid), of};
        if (found.lines.contains(line)) return;  // another share of the same device
        if (!possible_name(of.space) || !possible_name(of.pod) || !possible_name(of.container))
            ++found.unknown["name"];
        else if (found.lines.size() == PodDevices::kMostLines)
            ++found.unknown["limit"];
        else
            found.lines.insert(std::move(line));
    }

    // ContainerDevices: 1 resource_name, 2 device_ids.
    bool devices(std::string_view message, const PodName& of) {
        std::string_view resource;
        std::vector<std::string_view> ids;
        importers::ProtobufFields fields(message);
        while (fields.next()) {
            if (fields.number() == 1) resource = fields.bytes();
            if (fields.number() == 2) ids.push_back(fields.bytes());
        }
        for (std::string_view id : ids) {
            if (std::string_view uuid = uuid_of(id); !uuid.empty())
                add(uuid, of);
            else if (resource.starts_with("nvidia.com/"))
                ++found.unknown["id"];
        }
        return !fields.damaged();
    }

    // DynamicResource: 4 claim_resources, with 2 driver_name.
    bool claim(std::string_view message) {
        importers::ProtobufFields fields(message);
        while (fields.next()) {
            if (fields.number() != 4) continue;
            importers::ProtobufFields resource(fields.bytes());
            while (resource.next())
                if (resource.number() == 2 && resource.bytes() == "gpu.nvidia.com") ++found.unknown["claim"];
            if (resource.damaged()) return false;
        }
        return !fields.damaged();
    }

    // ContainerResources: 1 name, 2 devices, 5 dynamic_resources.
    bool container(std::string_view message, PodName of) {
        bool sound = true;
        importers::ProtobufFields names(message), fields(message);
        while (names.next())
            if (names.number() == 1) of.container = names.bytes();
        while (sound && fields.next()) {
            if (fields.number() == 2) sound = devices(fields.bytes(), of);
            if (fields.number() == 5) sound = claim(fields.bytes());
        }
        return sound && !fields.damaged();
    }

    // PodResources: 1 name, 2 namespace, 3 containers.
    bool pod(std::string_view message) {
        bool sound = true;
        PodName of;
        importers::ProtobufFields names(message), fields(message);
        while (names.next()) {
            if (names.number() == 1) of.pod = names.bytes();
            if (names.number() == 2) of.space = names.bytes();
        }
        while (sound && fields.next())
            if (fields.number() == 3) sound = container(fields.bytes(), of);
        return sound && !fields.damaged();
    }
};

}  // namespace

Result<PodDevices> pod_devices_in(std::string_view message) {
    PodDevices found;
    ListReader reader{found};
    importers::ProtobufFields fields(message);
    while (fields.next())
        if (fields.number() == 1 && !reader.pod(fields.bytes()))
            return Error{ExitCode::unreadable, "kubelet's list of devices is damaged"};
    if (fields.damaged()) return Error{ExitCode::unreadable, "kubelet's list of devices is damaged"};
    return found;
}

void Kubelet::look(TimeNs now) {
    if (asked_at_ != 0 && now - asked_at_ < kAskAgain) return;
    asked_at_ = now;
    Result<std::string> message = call_grpc(socket_, "/v1.PodResourcesLister/List", kMostListBytes, kLongestQuestion);
    Result<PodDevices> found = message.ok() ? pod_devices_in(*message) : message.error();
    problem_ = found.ok() ? "" : found.error().message;
    devices_ = found.ok() ? std::move(*found) : PodDevices{};
}

std::string Kubelet::exposition(const std::vector<SampledDevice>& devices) const {
    std::string page;
    Family up(page, "gpu_profile_kubelet_up", "gauge", "1 if kubelet has answered the last question, else 0.");
    up.add("", problem_.empty() ? 1 : 0);
    Family info(page, "gpu_profile_pod_device_info", "gauge",
                "Constant 1; a container, and a device that kubelet has given to it, in use or not.");
    for (const PodDevices::Line& line : devices_.lines) {
        auto known = std::find_if(devices.begin(), devices.end(),
                                  [&line](const SampledDevice& device) { return device.uuid == line.uuid; });
        std::string labels =
            known == devices.end() ? fmt::format("uuid=\"{}\"", label_escaped(line.uuid)) : labels_of(*known);
        info.add(labels + Containers::labels({}, line.of), 1);
    }
    Family unknown(page, "gpu_profile_pod_devices_unknown", "gauge", "Devices of pods that have no line, by reason.");
    for (const auto& [reason, count] : devices_.unknown)
        unknown.add(fmt::format("reason=\"{}\"", reason), static_cast<double>(count));
    return page;
}

}  // namespace gpuprof::cli
