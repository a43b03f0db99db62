// One long-lived `nvidia-smi --query-gpu=... --format=csv,nounits -lms N`: starts it with accepted fields and reads
// rows. An unknown field makes nvidia-smi refuse the whole query. A field that it names is replaced by its older name
// or dropped; if it names none, each field is tried alone.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "collect/device/smi/smi_csv.h"
#include "core/base/ids.h"
#include "core/base/result.h"

namespace gpuprof::inline device::nvidia_smi {

// A child process whose output is read without waiting: nvidia-smi. It starts without a shell, with LC_ALL=C, no input,
// none of our descriptors, default signals, and its own process group (Ctrl-C is for the target). Both output streams
// arrive as one text. Nothing here waits for a process that the driver holds: a killed one is reaped when possible.
class Process {
public:
    Process() = default;
    ~Process() { kill(); }
    Process(Process&& other) noexcept { *this = std::move(other); }
    Process& operator=(Process&& other) noexcept;

    static Result<Process> start(const std::string& program, const std::vector<std::string>& arguments);
    // Appends available output; false at its end. Waits up to `timeout` for new output.
    bool read(std::string& to, DurNs timeout);
    // "exit status 9" or "signal 11" if it has ended; waits briefly for that.
    std::optional<std::string> ending();
    bool running() const { return pid_ > 0; }
    void kill();

private:
    pid_t pid_ = -1;
    int output_ = -1;
};

// Path of nvidia-smi: from PATH (not in a program with raised privileges), /usr/bin or WSL's folder; "" if not found.
std::string find_nvidia_smi();

class Stream {
public:
    Stream(std::string program, DurNs interval);

    // Starts it and waits up to `timeout` for rows of all GPUs; refused() lists the fields that were not accepted.
    Result<std::vector<Row>> open(DurNs timeout);
    // Restarts it after it ended or was killed.
    Status restart();
    // Available rows, without waiting; false if it has ended.
    bool read(std::vector<Row>& to) { return read(to, 0); }
    bool running() const { return process_.running(); }
    void kill() { process_.kill(); }
    // Why it ended, such as "exit status 9: NVIDIA-SMI has failed".
    std::string ending();
    MetricSet refused() const { return refused_; }

private:
    struct RequestedField {
        const Field* field;
        std::string_view name;
    };
    bool read(std::vector<Row>& to, DurNs timeout);
    std::vector<std::string> arguments(const std::vector<RequestedField>& requested, bool loop) const;
    Result<std::vector<Row>> first_rows(TimeNs deadline);
    bool drop_refused();
    bool probe_each(TimeNs deadline);
    bool exchange(std::size_t position);

    std::string program_;
    DurNs interval_;
    std::vector<RequestedField> requested_;
    MetricSet refused_;
    Process process_;
    Table table_;
    std::string buffer_, said_;
};

}  // namespace gpuprof::device::nvidia_smi
