// Which container and pod a process of a GPU belongs to, without an interface of Kubernetes and without rights: the names of the
// process's control groups contain the pod's UID and the container's id, and the names of the folders and files of pod logs say
// the rest. Memory and utilisation that the driver reports for processes are added up per container; values of whole devices are
// never given to a pod. A process that may be another one than the driver meant is counted with the reason, and in no sum.
// Sources: /proc/PID/cgroup in cgroups(7), NSpid in proc(5), kubelet's pkg/kubelet/kuberuntime (BuildPodLogsDirectory,
// legacyLogSymlink) and pkg/kubelet/cm (systemd and cgroupfs names).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/live/live_state.h"

namespace gpuprof::inline cli {

// Where a process runs. Without uid and id, in no container.
struct Place {
    enum class Known { yes, hidden, ambiguous };
    std::string pod_uid = {}, container_id = {};
    Known known = Known::yes;
    auto operator<=>(const Place&) const = default;
};
// From /proc/PID/cgroup. `whole`: whether the reader sees the names from the root on, not from its own group.
Place place_of(std::string_view cgroup, bool whole);

// As Kubernetes allows for namespaces, pods and containers; underscores separate them.
bool possible_name(std::string_view name);

struct PodName {
    std::string space = {}, pod = {}, container = {};  // "": unknown
    auto operator<=>(const PodName&) const = default;
};

// The pod that this process is in, by the files that kubelet mounts into each container: POD_UID/etc-hosts at /etc/hosts,
// POD_UID/containers/NAME/HASH at /dev/termination-log. `space` and `pod`: its names, if the environment has them.
struct OwnPod {
    std::string pod_uid = {};
    PodName name = {};
};
OwnPod own_pod(std::string_view mountinfo, std::string_view space, std::string_view pod);

// Names from /var/log/pods/NAMESPACE_POD_UID/CONTAINER and /var/log/containers/POD_NAMESPACE_CONTAINER-ID.log.
class PodNames {
public:
    explicit PodNames(std::string logs) : logs_(std::move(logs)) {}
    // Reads the folders if a place has no name yet, at most every ten seconds. `now`: CLOCK_MONOTONIC.
    void look(const std::vector<Place>& places, TimeNs now);
    PodName find(const Place& place) const;
    // Entries that the last reading ignored: those with impossible names, and whether there were too many.
    std::size_t ignored() const { return ignored_; }
    bool too_many() const { return too_many_; }

private:
    void read(const std::vector<Place>& places);

    std::string logs_;
    std::map<std::string, PodName> pods_, containers_;  // by UID, without a container; by id
    TimeNs read_at_ = 0;
    std::size_t ignored_ = 0;
    bool too_many_ = false;
};

// What the processes of one device used at the newest reading.
struct DeviceProcesses {
    SampledDevice device;
    std::vector<ProcessReading> processes;
};
std::vector<DeviceProcesses> newest_processes(const LiveState& state, TimeNs now);

class Containers {
public:
    // `root`: the host's root folder, which has its /proc and /var/log.
    explicit Containers(const std::string& root);
    // Why no process can be attributed, or "".
    std::string problem() const;
    // Lines of the text format 0.0.4. `also`: places to name, too.
    std::string exposition(const std::vector<DeviceProcesses>& devices, DurNs interval, std::vector<Place> also);
    const PodNames& names() const { return names_; }

    // Each begins with a comma.
    static std::string labels(const Place& place, const PodName& name);

private:
    struct View {
        bool host = false;        // /proc is that of the host
        bool same_ids = false;    // and this process is in that PID namespace
        bool all_groups = false;  // names of control groups begin at the root, not at this process's group
    };
    struct Found {
        Place place = {};
        std::string_view unknown = {};  // why
        bool for_whole_turn = false;    // it was the same process when the turn began that utilisation is averaged over
    };
    View view() const;
    Found find(const ProcessReading& process, const View& view, DurNs turn) const;

    std::string proc_;
    PodNames names_;
};

}  // namespace gpuprof::cli
