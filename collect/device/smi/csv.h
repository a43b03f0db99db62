// The text of `nvidia-smi --query-gpu=... --format=csv`: fields by the names in its header, in any order. A pure function of
// lines; hostile text gives problems, never wrong numbers. What it tolerates, because it was seen: units in headers or
// after values, [N/A] and its relatives, quoted values, a decimal comma where it cannot be anything else, repeated headers,
// messages between the rows.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collect/device/reading.h"
#include "core/smi/cells.h"

namespace gpuprof::smi {

struct Row {
    std::int32_t index = -1;
    std::optional<std::int32_t> count;  // of GPUs in the machine
    std::string uuid, name, pci_bus_id;
    bool mig = false;
    std::optional<double> power_limit_w, sm_clock_max_mhz, mem_clock_max_mhz;
    Reading reading;  // without time and device
    struct Trouble {
        Metric metric;
        Problem problem;
        std::string text;  // as nvidia-smi wrote it
    };
    std::vector<Trouble> troubles;
};

class Table {
public:
    // Takes the next line (without its end). A row, or nothing: it was a header, or a message (see message()).
    std::optional<Row> take(std::string_view line);
    // The last line that was neither a header nor a row; "" when there was none.
    const std::string& message() const { return message_; }

private:
    bool take_header(const std::vector<std::string>& cells);

    std::vector<std::string> columns_;  // names in the header, units removed
    std::string message_;
};

}  // namespace gpuprof::smi
