// Parses the text of `nvidia-smi --query-gpu=... --format=csv`: fields by the names in its header, in any order. A pure
// function of lines; hostile text yields problems, never wrong numbers. It tolerates variants seen in practice: units
// in headers or after values, [N/A] and similar, quoted values, an unambiguous decimal comma, repeated headers,
// messages between rows.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collect/device/device_reading.h"
#include "io/smi/smi_cells.h"

namespace gpuprof::inline device::nvidia_smi {

struct Row {
    std::int32_t index = -1;
    std::optional<std::int32_t> count;  // number of GPUs in the machine
    std::string uuid, name, pci_bus_id;
    bool mig = false;
    std::optional<double> power_limit_w, sm_clock_max_mhz, mem_clock_max_mhz;
    Reading reading;  // without time and device
    struct CellError {
        Metric metric;
        Problem problem;
        std::string text;  // as printed by nvidia-smi
    };
    std::vector<CellError> errors;
};

class Table {
public:
    // Takes the next line (without its end). Returns a row, or nothing for a header or a message (see message()).
    std::optional<Row> take(std::string_view line);
    // The last line that was neither a header nor a row; "" if there was none.
    const std::string& message() const { return message_; }

private:
    bool take_header(const std::vector<std::string>& cells);

    std::vector<std::string> columns_;  // names from the header, without units
    std::string message_;
};

}  // namespace gpuprof::device::nvidia_smi
