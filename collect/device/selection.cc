// Resolves the list of visible devices first, then the requested devices against it.
#include "collect/device/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/base/text/close_match.h"

namespace gpuprof::inline device {

namespace {

std::string_view trim(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

std::vector<std::string_view> split(std::string_view list) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= list.size();) {
        std::size_t end = std::min(list.find(',', begin), list.size());
        parts.push_back(trim(list.substr(begin, end - begin)));
        begin = end + 1;
    }
    return parts;
}

bool is_uuid(std::string_view text) { return text.starts_with("GPU-") || text.starts_with("MIG-"); }

// The number at the beginning of `text`: CUDA reads "1x" as 1.
std::optional<std::int64_t> leading_number(std::string_view text, bool whole) {
    if (text.starts_with('+')) text.remove_prefix(1);
    std::int64_t number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || (whole && end != text.data() + text.size())) return std::nullopt;
    return number;
}

// A GPU or one of its instances: an element of a list of visible devices.
struct DeviceIndex {
    std::int32_t machine, mig;
    friend bool operator==(const DeviceIndex&, const DeviceIndex&) = default;
};
using DeviceIndexes = std::vector<DeviceIndex>;

void add_whole(std::span<const MachineDevice> machine, std::size_t index, DeviceIndexes& to) {
    auto number = static_cast<std::int32_t>(index);
    if (machine[index].mig_uuids.empty()) to.push_back({number, -1});
    for (std::size_t mig = 0; mig < machine[index].mig_uuids.size(); ++mig)
        to.push_back({number, static_cast<std::int32_t>(mig)});
}

// The device that a UUID or its beginning names, if unique. A GPU with instances stands for all of them.
DeviceIndexes find_uuid(std::span<const MachineDevice> machine, std::string_view uuid) {
    DeviceIndexes found;
    int matches = 0;
    for (std::size_t i = 0; i < machine.size(); ++i) {
        if (!machine[i].uuid.empty() && machine[i].uuid.starts_with(uuid)) {
            ++matches;
            add_whole(machine, i, found);
        }
        for (std::size_t mig = 0; mig < machine[i].mig_uuids.size(); ++mig) {
            if (!machine[i].mig_uuids[mig].starts_with(uuid)) continue;
            ++matches;
            found.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(mig)});
        }
    }
    return matches == 1 ? found : DeviceIndexes{};
}

// The device that one entry of CUDA_VISIBLE_DEVICES shows; for a GPU with instances, the first one.
std::optional<DeviceIndex> visible_entry(std::span<const MachineDevice> machine, std::string_view entry) {
    DeviceIndexes found;
    if (is_uuid(entry)) {
        found = find_uuid(machine, entry);
    } else if (auto number = leading_number(entry, false)) {
        if (*number < 0 || static_cast<std::uint64_t>(*number) >= machine.size()) return std::nullopt;
        add_whole(machine, static_cast<std::size_t>(*number), found);
    }
    return found.empty() ? std::nullopt : std::optional(found.front());
}

DeviceIndexes visible_places(std::span<const MachineDevice> machine, const DeviceRequest& request,
                             Selection& selection) {
    DeviceIndexes visible;
    if (!request.visible_set) {
        for (std::size_t i = 0; i < machine.size(); ++i) add_whole(machine, i, visible);
        return visible;
    }
    for (std::string_view entry : split(request.visible)) {
        std::optional<DeviceIndex> place = visible_entry(machine, entry);
        if (!place) {
            if (!entry.empty() && entry != "-1")
                selection.notes.push_back(
                    fmt::format("CUDA_VISIBLE_DEVICES={}: \"{}\" matches no device of this machine; CUDA ignores it "
                                "and all later entries",
                                request.visible, entry));
            break;
        }
        if (std::find(visible.begin(), visible.end(), *place) != visible.end()) {
            selection.notes.push_back(
                fmt::format("CUDA_VISIBLE_DEVICES={} lists a device twice, so CUDA shows none", request.visible));
            return {};
        }
        visible.push_back(*place);
    }
    return visible;
}

std::string numbers(const std::vector<std::int32_t>& values) {
    std::string text;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i > 0) text += i + 1 == values.size() ? " and " : ", ";
        text += fmt::format("{}", values[i]);
    }
    return text;
}

Error nothing_visible(const DeviceRequest& request, std::size_t machine_count) {
    if (machine_count == 0) return {ExitCode::empty, "the driver reports no GPU"};
    return {ExitCode::empty,
            fmt::format("CUDA_VISIBLE_DEVICES={} hides all {} GPUs from the target; unset it or name a device",
                        request.visible, machine_count)};
}

Error invalid_device(std::string_view entry) {
    constexpr std::string_view kWords[] = {"all"};
    std::string hint = did_you_mean(entry, kWords);
    if (hint.empty()) hint = "; expected all, or numbers and UUIDs separated by commas";
    return {ExitCode::usage, fmt::format("invalid device '{}'{}", entry, hint)};
}

// The positions in `visible` that one requested entry selects.
Result<std::vector<std::int32_t>> wanted(std::span<const MachineDevice> machine, const DeviceIndexes& visible,
                                         std::string_view entry) {
    std::vector<std::int32_t> positions;
    if (is_uuid(entry)) {
        DeviceIndexes found = find_uuid(machine, entry);
        if (found.empty())
            return Error{
                ExitCode::usage,
                fmt::format(
                    "device '{}' matches no GPU or MIG instance, or more than one; nvidia-smi -L lists the UUIDs",
                    entry)};
        for (std::size_t i = 0; i < visible.size(); ++i)
            if (std::find(found.begin(), found.end(), visible[i]) != found.end())
                positions.push_back(static_cast<std::int32_t>(i));
        if (!positions.empty()) return positions;
        return Error{ExitCode::usage, fmt::format("device '{}' is hidden by CUDA_VISIBLE_DEVICES", entry)};
    }
    std::optional<std::int64_t> number = leading_number(entry, true);
    if (!number) return invalid_device(entry);
    if (*number < 0 || static_cast<std::uint64_t>(*number) >= visible.size())
        return Error{ExitCode::usage, fmt::format("unknown device '{}'; the program sees {} device{}, numbered from 0",
                                                  *number, visible.size(), visible.size() == 1 ? "" : "s")};
    positions.push_back(static_cast<std::int32_t>(*number));
    return positions;
}

// By default CUDA numbers the fastest GPU first, and the driver numbers by PCI address: with different models, the same
// number may mean different GPUs.
void note_ambiguity(std::span<const MachineDevice> machine, const DeviceRequest& request, Selection& selection) {
    bool models_differ = std::any_of(machine.begin(), machine.end(),
                                     [&](const MachineDevice& one) { return one.name != machine.front().name; });
    bool by_uuid = request.visible_set && is_uuid(trim(request.visible));
    if (models_differ && !request.pci_order && !by_uuid)
        selection.notes.push_back(
            "the GPUs are of different models, so CUDA may number them differently from the driver, whose numbers "
            "apply here; set CUDA_DEVICE_ORDER=PCI_BUS_ID to make them equal");
}

void note_unsampled(const DeviceIndexes& visible, Selection& selection) {
    std::vector<std::int32_t> left;
    for (std::size_t i = 0; i < visible.size(); ++i)
        if (std::none_of(selection.devices.begin(), selection.devices.end(),
                         [&](const SelectedDevice& one) { return one.device == static_cast<std::int32_t>(i); }))
            left.push_back(static_cast<std::int32_t>(i));
    if (left.empty()) return;
    selection.notes.push_back(fmt::format("{} visible device{} not sampled: {}; --device all samples all devices",
                                          left.size(), left.size() == 1 ? " was" : "s were", numbers(left)));
}

}  // namespace

Result<Selection> select_devices(std::span<const MachineDevice> machine, const DeviceRequest& request) {
    Selection selection;
    DeviceIndexes visible = visible_places(machine, request, selection);
    if (visible.empty()) return nothing_visible(request, machine.size());
    std::vector<std::int32_t> chosen;
    if (trim(request.devices) == "all") {
        for (std::size_t i = 0; i < visible.size(); ++i) chosen.push_back(static_cast<std::int32_t>(i));
    } else {
        for (std::string_view entry : split(request.devices)) {
            Result<std::vector<std::int32_t>> positions = wanted(machine, visible, entry);
            if (!positions) return positions.error();
            chosen.insert(chosen.end(), positions->begin(), positions->end());
        }
    }
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    for (std::int32_t number : chosen) {
        const DeviceIndex& place = visible[static_cast<std::size_t>(number)];
        selection.devices.push_back({number, place.machine, place.mig});
    }
    note_ambiguity(machine, request, selection);
    note_unsampled(visible, selection);
    return selection;
}

}  // namespace gpuprof::device
