// Which devices are sampled: CUDA_VISIBLE_DEVICES and the wanted, against machines of one to four GPUs.
#include "collect/device/selection.h"

#include <gtest/gtest.h>

namespace gpuprof {
namespace {

std::vector<MachineDevice> four_gpus() {
    return {{"H200", "GPU-aaaa1111", {}},
            {"H200", "GPU-aabb2222", {}},
            {"H200", "GPU-cccc3333", {}},
            {"H200", "GPU-dddd4444", {}}};
}

// "0:2" is device 0, position 2 on the machine; "1:0.3" an instance.
std::string shown(const Result<Selection>& selection) {
    if (!selection) return "error: " + selection.error().message;
    std::string text;
    for (const SelectedDevice& one : selection->devices) {
        text += (text.empty() ? "" : " ") + std::to_string(one.device) + ":" + std::to_string(one.machine);
        if (one.mig >= 0) text += "." + std::to_string(one.mig);
    }
    return text;
}

std::string select(std::string_view wanted, std::string_view visible) {
    return shown(select_devices(four_gpus(), {wanted, true, visible, true}));
}

std::string select_of_all(std::string_view wanted) {
    return shown(select_devices(four_gpus(), {wanted, false, "", true}));
}

TEST(Selection, WithoutVisibleDevices) {
    EXPECT_EQ(select_of_all("0"), "0:0");
    EXPECT_EQ(select_of_all("2,0"), "0:0 2:2");
    EXPECT_EQ(select_of_all(" 1 , 1 "), "1:1");
    EXPECT_EQ(select_of_all("all"), "0:0 1:1 2:2 3:3");
    EXPECT_EQ(select_of_all("GPU-cccc"), "2:2");
}

TEST(Selection, NumbersCountAmongVisibleDevices) {
    EXPECT_EQ(select("0", "3,1"), "0:3");
    EXPECT_EQ(select("all", "3,1"), "0:3 1:1");
    EXPECT_EQ(select("GPU-aabb2222", "3,1"), "1:1");
    EXPECT_EQ(select("all", " 2 , GPU-dddd"), "0:2 1:3");
    EXPECT_EQ(select("all", "GPU-dddd4444,GPU-aaaa"), "0:3 1:0");
    EXPECT_EQ(select("all", "1x,+2"), "0:1 1:2");
}

TEST(Selection, TheListEndsAtWhatNamesNothing) {
    EXPECT_EQ(select("all", "1,9,2"), "0:1");
    EXPECT_EQ(select("all", "1,-1,2"), "0:1");
    EXPECT_EQ(select("all", "2,,1"), "0:2");
    EXPECT_EQ(select("all", "1,GPU-eeee,2"), "0:1");
    EXPECT_EQ(select("all", "1,GPU-aa,2"), "0:1");  // two GPUs begin so
    Result<Selection> selection = select_devices(four_gpus(), {"all", true, "1,9,2", true});
    ASSERT_TRUE(selection);
    ASSERT_FALSE(selection->notes.empty());
    EXPECT_EQ(
        selection->notes[0],
        "CUDA_VISIBLE_DEVICES=1,9,2: \"9\" matches no device of this machine; CUDA ignores it and all later entries");
}

TEST(Selection, NothingVisibleIsAnError) {
    for (std::string_view visible : {"", "-1", "9", "none", "0,0", "GPU-a"})
        EXPECT_EQ(select("0", visible), "error: CUDA_VISIBLE_DEVICES=" + std::string(visible) +
                                            " hides all 4 GPUs from the target; unset it or name a device");
    EXPECT_EQ(shown(select_devices({}, {"0", false, "", false})), "error: the driver reports no GPU");
}

TEST(Selection, ImpossibleRequests) {
    EXPECT_EQ(select_of_all("4"), "error: unknown device '4'; the program sees 4 devices, numbered from 0");
    EXPECT_EQ(select("1", "2"), "error: unknown device '1'; the program sees 1 device, numbered from 0");
    EXPECT_EQ(select_of_all("-1"), "error: unknown device '-1'; the program sees 4 devices, numbered from 0");
    EXPECT_EQ(select_of_all("x"), "error: invalid device 'x'; expected all, or numbers and UUIDs separated by commas");
    EXPECT_EQ(select_of_all("0,"), "error: invalid device ''; expected all, or numbers and UUIDs separated by commas");
    EXPECT_EQ(select_of_all("1.5"),
              "error: invalid device '1.5'; expected all, or numbers and UUIDs separated by commas");
    EXPECT_EQ(select_of_all("99999999999999999999"),
              "error: invalid device '99999999999999999999'; expected all, or numbers and UUIDs separated by commas");
    EXPECT_EQ(select_of_all("GPU-aa"),
              "error: device 'GPU-aa' matches no GPU or MIG instance, or more than one; nvidia-smi -L lists the UUIDs");
    EXPECT_EQ(select("GPU-aaaa", "1,2"), "error: device 'GPU-aaaa' is hidden by CUDA_VISIBLE_DEVICES");
}

TEST(Selection, MigInstancesStandForTheirGpu) {
    std::vector<MachineDevice> machine = {{"A100", "GPU-a", {}}, {"A100", "GPU-b", {"MIG-1", "MIG-2"}}};
    auto with = [&](std::string_view wanted, bool set, std::string_view visible) {
        return shown(select_devices(machine, {wanted, set, visible, true}));
    };
    EXPECT_EQ(with("all", false, ""), "0:0 1:1.0 2:1.1");
    EXPECT_EQ(with("GPU-b", false, ""), "1:1.0 2:1.1");
    EXPECT_EQ(with("MIG-2", false, ""), "2:1.1");
    EXPECT_EQ(with("0", true, "MIG-2"), "0:1.1");
    EXPECT_EQ(with("all", true, "1"), "0:1.0");  // by its number a GPU shows its first instance
}

TEST(Selection, NotesSayWhatIsNotSampledAndWhatIsAmbiguous) {
    Result<Selection> one = select_devices(four_gpus(), {"2", false, "", false});
    ASSERT_TRUE(one);
    ASSERT_EQ(one->notes.size(), 1u);
    EXPECT_EQ(one->notes[0], "3 visible devices were not sampled: 0, 1 and 3; --device all samples all devices");
    std::vector<MachineDevice> mixed = {{"H200", "GPU-a", {}}, {"L4", "GPU-b", {}}};
    auto notes = [&](const DeviceRequest& wanted) { return select_devices(mixed, wanted)->notes.size(); };
    EXPECT_EQ(notes({"all", false, "", false}), 1u);
    EXPECT_EQ(notes({"all", false, "", true}), 0u);
    EXPECT_EQ(notes({"all", true, "GPU-a", false}), 0u);
}

}  // namespace
}  // namespace gpuprof
