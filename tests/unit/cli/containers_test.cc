// Pods and containers by the names of control groups and mounts, as runtimes give them and as others may.
#include "cli/serve/containers.h"

#include <gtest/gtest.h>

namespace gpuprof {
namespace {

const std::string kUid = "0a1b2c3d-1111-2222-3333-444455556666", kSystemdUid = "0a1b2c3d_1111_2222_3333_444455556666";
const std::string kId(64, 'a'), kOther(64, 'b');
using Known = Place::Known;

Place whole(const std::string& path) { return place_of("0::" + path + "\n", true); }
Place part(const std::string& path) { return place_of("0::" + path + "\n", false); }

TEST(PlaceOf, RuntimesNameGroupsInManyWays) {
    const Place both{.pod_uid = kUid, .container_id = kId};
    for (const std::string& path :
         {"/kubepods/burstable/pod" + kUid + "/" + kId, "/kubepods/pod" + kUid + "/" + kId,
          "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" + kSystemdUid + ".slice/cri-containerd-" +
              kId + ".scope",
          "/kubepods.slice/kubepods-pod" + kSystemdUid + ".slice/crio-" + kId + ".scope",
          "/kubepods.slice/kubepods-pod" + kSystemdUid + ".slice/docker-" + kId + ".scope",
          "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" + kSystemdUid + ".slice/crio-" + kId +
              ".scope/container",
          "/system.slice/containerd.service/kubepods-burstable-pod" + kSystemdUid + ".slice:cri-containerd:" + kId})
        EXPECT_EQ(whole(path), both) << path;
    EXPECT_EQ(part("/../../kubepods-pod" + kSystemdUid + ".slice/cri-containerd-" + kId + ".scope"), both);
    EXPECT_EQ(part("/../../pod" + kUid + "/" + kId), both);
    EXPECT_EQ(whole("/kubepods/pod" + kUid + "/" + kId + " (deleted)"), both);
    const Place alone{.container_id = kId};
    for (const std::string& path : {"/docker/" + kId, "/system.slice/docker-" + kId + ".scope",
                                    "/machine.slice/libpod-" + kId + ".scope/container"})
        EXPECT_EQ(whole(path), alone) << path;
    std::string hash(32, '7');
    EXPECT_EQ(whole("/kubepods/pod" + hash + "/" + kId), (Place{.pod_uid = hash, .container_id = kId}));  // static pod
}

TEST(PlaceOf, WhoeverOwnsAGroupCannotPretendToBeAnother) {
    std::string claimed = "/kubepods/pod" + kUid + "/" + kId;
    EXPECT_EQ(whole("/user.slice/user-1000.slice/user@1000.service" + claimed), Place{});
    EXPECT_EQ(whole("/lxc.payload.guest" + claimed), Place{});
    EXPECT_EQ(whole("/machine.slice/machine-guest.scope" + claimed), Place{});
    EXPECT_EQ(whole("/docker/" + kOther + claimed), (Place{.container_id = kOther}));
    std::string uid = "99999999-1111-2222-3333-444455556666";
    EXPECT_EQ(whole("/kubepods/pod" + uid + "/" + kOther + claimed), (Place{.pod_uid = uid, .container_id = kOther}));
}

TEST(PlaceOf, WhatTheReaderDoesNotSeeIsNotTheHost) {
    EXPECT_EQ(whole("/"), Place{});
    EXPECT_EQ(whole("/system.slice/slurmd.service"), Place{});
    EXPECT_EQ(part("/").known, Known::hidden);
    EXPECT_EQ(part("/system.slice/a.service").known, Known::hidden);  // below the reader's own group
    EXPECT_EQ(part("/../..").known, Known::hidden);
    EXPECT_EQ(part("/../../system.slice/a.service"), Place{});
    EXPECT_EQ(place_of("", true).known, Known::hidden);
}

TEST(PlaceOf, HierarchiesOfVersion1MustAgree) {
    std::string pod = ":/kubepods/pod" + kUid + "/";
    EXPECT_EQ(place_of("12:rdma:/\n4:memory" + pod + kId + "\n1:name=systemd" + pod + kId + "\n0::/\n", true),
              (Place{.pod_uid = kUid, .container_id = kId}));
    EXPECT_EQ(place_of("4:memory" + pod + kId + "\n1:name=systemd" + pod + kOther + "\n", true).known,
              Known::ambiguous);
    EXPECT_EQ(place_of("4:memory:/\n1:name=systemd:/user.slice\n", true), Place{});
}

TEST(PlaceOf, WhatOnlyLooksAlike) {
    for (const std::string& path : {"/kubepods/pod" + kUid.substr(1), std::string("/kubepods/podium"),
                                    "/kubepods/xpod" + kUid, "/docker/" + kId.substr(1), "/docker/x" + kId,
                                    "/docker/" + std::string(64, 'A'), "/kubepods/pod" + std::string(36, '-')})
        EXPECT_EQ(whole(path), Place{}) << path;
}

TEST(OwnPod, MountsOfKubelet) {
    std::string pods = "8:1 /var/lib/kubelet/pods/";
    std::string hosts = "700 690 " + pods + kUid + "/etc-hosts /etc/hosts rw - ext4 /dev/sda1 rw\n";
    std::string log =
        "701 690 " + pods + kUid + "/containers/train/1f2e3d4c /dev/termination-log rw - ext4 /dev/sda1 rw\n";
    OwnPod own = own_pod("690 1 0:50 / / rw - overlay overlay rw\n" + hosts + log, "team", "train-0");
    EXPECT_EQ(own.pod_uid, kUid);
    EXPECT_EQ(own.name.container, "train");
    EXPECT_EQ(own.name.space + "/" + own.name.pod, "team/train-0");
    EXPECT_EQ(own_pod(hosts, "te\"am", "a\nb").name.space, "");
    EXPECT_EQ(own_pod("690 1 0:50 / / rw\n700 690 8:1 /pods/x/etc-hosts /etc/hosts rw\n", "team", "pod").name.pod, "");
    EXPECT_EQ(own_pod("9 8 " + pods + kUid + "/volumes/a /data rw\n", "", "").pod_uid, "");
    EXPECT_EQ(own_pod("9 8", "", "").pod_uid, "");
}

}  // namespace
}  // namespace gpuprof
