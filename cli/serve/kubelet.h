// Which pods have which devices, as kubelet says, also while they are idle: v1.PodResourcesLister/List over the socket that kubelet has for
// device plugins and monitors. It is asked every ten seconds and trusted with names only: those that Kubernetes does not allow, devices
// without a UUID and lines beyond a limit are counted, with the reason. After a question without an answer nothing is known.
// Source: kubelet's pkg/apis/podresources/v1/api.proto.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/serve/containers.h"
#include "collect/device/device_reading.h"
#include "core/base/ids.h"
#include "core/base/result.h"

namespace gpuprof::inline cli {

struct PodDevices {
    struct Line {
        std::string uuid = {};  // of a GPU or a MIG instance
        PodName of = {};
        auto operator<=>(const Line&) const = default;
    };
    static constexpr std::size_t kMostLines = 1024;

    std::set<Line> lines;
    std::map<std::string_view, std::size_t> unknown;  // devices in no line, by reason
};
// From a ListPodResourcesResponse.
Result<PodDevices> pod_devices_in(std::string_view message);

class Kubelet {
public:
    explicit Kubelet(std::string socket) : socket_(std::move(socket)) {}
    // Asks, if the last question is ten seconds ago; takes at most a second. `now`: CLOCK_MONOTONIC.
    void look(TimeNs now);
    // Why the last question has no answer, or "".
    const std::string& problem() const { return problem_; }
    // Lines of the text format 0.0.4.
    std::string exposition(const std::vector<SampledDevice>& devices) const;

private:
    std::string socket_, problem_;
    PodDevices devices_;
    TimeNs asked_at_ = 0;
};

}  // namespace gpuprof::cli
