// Reads scripts; see script.h for the form.
#include "tests/fakes/nvml/nvml_script.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>

namespace fake_nvml {

namespace {

double now_ms() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double started_ms = 0;

using Words = std::vector<std::string>;

bool number_of(const std::string& word, double& to) {
    char* end = nullptr;
    to = std::strtod(word.c_str(), &end);
    return end != word.c_str() && *end == '\0';
}

std::string value_of(const Words& words, const std::string& key, const std::string& otherwise) {
    for (const std::string& word : words)
        if (word.compare(0, key.size() + 1, key + "=") == 0) {
            std::string value = word.substr(key.size() + 1);
            for (char& c : value)
                if (c == '_') c = ' ';
            return value;
        }
    return otherwise;
}

// "device D", "after N", "for M" at the end of a statement.
double option_of(const Words& words, const std::string& key, double otherwise) {
    double value = 0;
    for (std::size_t i = 1; i + 1 < words.size(); ++i)
        if (words[i] == key && number_of(words[i + 1], value)) return value;
    return otherwise;
}

// What an H200 answers when nothing runs (a recording of nvidia-smi and of NVML on one).
const std::map<std::string, double> kIdle = {
    {"util_gpu", 0},
    {"util_mem", 0},
    {"mem_used_mb", 0},
    {"power_w", 134.05},
    {"energy_j", 1000},
    {"temp_c", 40},
    {"sm_clock_mhz", 1980},
    {"mem_clock_mhz", 3201},
    {"pstate", 0},
    {"throttle_reasons", 0},
    {"pcie_gen", 5},
    {"pcie_width", 16},
    {"ecc_corrected", 0},
    {"ecc_uncorrected", 0},
    {"gpm_sm_active", 0},
    {"gpm_sm_occupancy", 0},
    {"gpm_tensor", 0},
    {"gpm_fp64", 0},
    {"gpm_fp32", 0},
    {"gpm_fp16", 0},
    {"gpm_dram", 0},
    {"gpm_pcie_tx_mib_per_s", 0},
    {"gpm_pcie_rx_mib_per_s", 0},
    {"gpm_nvlink_tx_mib_per_s", 0},
    {"gpm_nvlink_rx_mib_per_s", 0},
    {"power_limit_w", 700},
    {"sm_clock_max_mhz", 1980},
    {"mem_clock_max_mhz", 3201},
};

// Microseconds a call took on an H200 with driver 580.
const std::map<std::string, double> kMeasured = {
    {"nvmlDeviceGetUtilizationRates", 1.1},
    {"nvmlDeviceGetMemoryInfo_v2", 5.8},
    {"nvmlDeviceGetMemoryInfo", 5.8},
    {"nvmlDeviceGetPowerUsage", 1.1},
    {"nvmlDeviceGetTemperature", 4.2},
    {"nvmlDeviceGetClockInfo", 1.4},
    {"nvmlDeviceGetCurrentClocksEventReasons", 1.1},
    {"nvmlDeviceGetComputeRunningProcesses_v3", 7.3},
    {"nvmlDeviceGetTotalEnergyConsumption", 3370},
    {"nvmlGpmSampleGet", 800},
};

FakeDevice& add_device(const Words& words, Machine& to) {
    to.devices.emplace_back();
    FakeDevice& device = to.devices.back();
    device.number = static_cast<int>(to.devices.size()) - 1;
    char text[64];
    std::snprintf(text, sizeof text, "GPU-%08d-0000-0000-0000-000000000000", device.number);
    device.uuid = value_of(words, "uuid", text);
    device.name = value_of(words, "name", device.name);
    std::snprintf(text, sizeof text, "00000000:%02X:00.0", device.number + 6);
    device.pci = value_of(words, "pci", text);
    double memory = 0;
    if (number_of(value_of(words, "memory_mib", ""), memory)) device.memory_mib = memory;
    for (const auto& [field, value] : kIdle) device.fields[field] = Series({value});
    return device;
}

bool add_instance(const Words& words, Machine& to) {
    double parent = 0, instance = 1;
    if (words.size() < 2 || !number_of(words[1], parent) || parent >= static_cast<double>(to.devices.size()))
        return false;
    FakeDevice& device = add_device(words, to);
    device.parent = &to.devices[static_cast<std::size_t>(parent)];
    device.parent->mig.push_back(&device);
    if (value_of(words, "name", "").empty()) device.name = device.parent->name + " MIG";
    if (number_of(value_of(words, "gi", "1"), instance)) device.gpu_instance = static_cast<unsigned>(instance);
    return true;
}

// The devices that the second word means.
std::vector<FakeDevice*> devices_of(const Words& words, Machine& machine) {
    std::vector<FakeDevice*> found;
    double number = -1;
    bool all = words.size() > 1 && words[1] == "*";
    if (!all && (words.size() < 2 || !number_of(words[1], number))) return found;
    for (FakeDevice& device : machine.devices)
        if (all || device.number == static_cast<int>(number)) found.push_back(&device);
    return found;
}

bool set_series(const Words& words, Machine& to) {
    std::vector<double> values;
    for (std::size_t i = 3; i < words.size(); ++i) {
        double value = 0;
        if (!number_of(words[i], value)) return false;
        values.push_back(value);
    }
    std::vector<FakeDevice*> devices = devices_of(words, to);
    if (devices.empty() || values.empty()) return false;
    for (FakeDevice* device : devices) {
        if (!device->fields.count(words[2])) return false;
        bool square = words[0] == "square" && values.size() >= 3;
        bool counter = words[0] == "counter" && values.size() == 2;
        device->fields[words[2]] =
            square    ? Series::square(values[0], values[1], values[2], values.size() > 3 ? values[3] : 50)
            : counter ? Series::counter(values[0], values[1])
                      : Series(values, words[0] == "cycle");
    }
    return true;
}

bool read_csv(const Words& words, Machine& to) {
    std::vector<FakeDevice*> devices = devices_of(words, to);
    if (words.size() < 3 || devices.empty()) return false;
    std::ifstream file(words[2]);
    std::vector<std::string> fields;
    std::vector<std::vector<double>> columns;
    for (std::string line; std::getline(file, line);) {
        std::istringstream cells(line);
        std::size_t column = 0;
        for (std::string cell; std::getline(cells, cell, ','); ++column) {
            double value = 0;
            if (columns.size() <= column && fields.size() <= column && !number_of(cell, value)) {
                fields.push_back(cell);
            } else {
                columns.resize(fields.size());
                if (column >= columns.size() || !number_of(cell, value)) return false;
                columns[column].push_back(value);
            }
        }
    }
    for (FakeDevice* device : devices)
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (!device->fields.count(fields[i])) return false;
            device->fields[fields[i]] = Series(columns[i]);
        }
    return !columns.empty();
}

bool add_process(const Words& words, Machine& to) {
    double pid = 0, memory = 0, util = 0;
    std::vector<FakeDevice*> devices = devices_of(words, to);
    if (words.size() < 4 || devices.empty() || !number_of(words[3], memory)) return false;
    bool in_file = words[2][0] == '@';
    if (!in_file && !number_of(words[2], pid)) return false;
    if (words.size() > 4) number_of(words[4], util);
    FakeProcess process{static_cast<unsigned>(pid), memory, util, words.back() == "graphics", ""};
    if (in_file) process.pid_file = words[2].substr(1);
    for (FakeDevice* device : devices) device->processes.push_back(process);
    return true;
}

bool add_rule(Act act, const Words& words, Machine& to) {
    Rule rule{act, words.size() > 1 ? words[1] : ""};
    double code = 0;
    if (rule.function.empty()) return false;
    if (act == Act::fail && (words.size() < 3 || !number_of(words[2], code))) return false;
    rule.code = static_cast<Return>(code);
    rule.device = static_cast<int>(option_of(words, "device", -1));
    rule.after = static_cast<std::uint64_t>(option_of(words, "after", 0));
    if (double count = option_of(words, "for", -1); count >= 0) rule.count = static_cast<std::uint64_t>(count);
    to.rules.push_back(std::move(rule));
    return true;
}

bool set_number(const Words& words, Machine& to) {
    double value = 0;
    if (words[0] == "cost" && words.size() == 2 && words[1] == "measured") {
        for (const auto& [function, us] : kMeasured) to.cost_us[function] = us;
        return true;
    }
    if (words.size() != 3 || !number_of(words[2], value)) return false;
    if (words[0] == "cost") to.cost_us[words[1]] = value;
    if (words[0] == "entry") to.entry_bytes[words[1]] = static_cast<unsigned>(value);
    return true;
}

bool add_xid(const Words& words, Machine& to) {
    std::vector<FakeDevice*> devices = devices_of(words, to);
    double number = 0;
    if (words.size() < 3 || devices.size() != 1 || !number_of(words[2], number)) return false;
    to.xids.push_back(
        {devices[0], static_cast<unsigned>(number), static_cast<std::uint64_t>(option_of(words, "after", 0))});
    return true;
}

bool obey(const Words& words, Machine& to) {
    const std::string& verb = words[0];
    if (verb == "driver" && words.size() == 2) return to.driver = words[1], true;
    if (verb == "device") return to.gpus.push_back(&add_device(words, to)), true;
    if (verb == "mig") return add_instance(words, to);
    if (verb == "set" || verb == "series" || verb == "cycle" || verb == "square" || verb == "counter")
        return set_series(words, to);
    if (verb == "csv") return read_csv(words, to);
    if (verb == "process") return add_process(words, to);
    if (verb == "xid") return add_xid(words, to);
    if (verb == "cost" || verb == "entry") return set_number(words, to);
    if (verb == "fail") return add_rule(Act::fail, words, to);
    if (verb == "hang") return add_rule(Act::hang, words, to);
    if (verb == "crash") return add_rule(Act::crash, words, to);
    if (verb == "garbage") return add_rule(Act::garbage, words, to);
    return false;
}

}  // namespace

Series Series::square(double low, double high, double period_ms, double duty_pct) {
    Series series({low, high});
    series.period_ms_ = period_ms;
    series.duty_pct_ = duty_pct;
    return series;
}

Series Series::counter(double watts, double step_ms) {
    Series series({0});
    series.watts_ = watts;
    series.step_ms_ = step_ms;
    return series;
}

double Series::next() {
    if (values_.empty()) return 0;
    if (step_ms_ > 0) return watts_ * step_ms_ / 1e3 * std::floor(now_ms() / step_ms_);
    if (period_ms_ > 0) {
        double phase = std::fmod(now_ms() - started_ms, period_ms_) / period_ms_;
        return phase * 100 < duty_pct_ ? values_[1] : values_[0];
    }
    std::size_t call = calls_++;
    return values_[cycle_ ? call % values_.size() : std::min(call, values_.size() - 1)];
}

Return read_script(const char* path, Machine& to) {
    started_ms = now_ms();
    std::ifstream file(path ? path : "");
    if (!path || !file) return kDriverNotLoaded;
    int number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        std::istringstream text(line.substr(0, line.find('#')));
        Words words;
        for (std::string word; text >> word;) words.push_back(word);
        if (words.empty() || obey(words, to)) continue;
        std::fprintf(stderr, "fake nvml: %s:%d: not understood: %s\n", path, number, line.c_str());
        return kInvalidArgument;
    }
    return kSuccess;
}

}  // namespace fake_nvml
