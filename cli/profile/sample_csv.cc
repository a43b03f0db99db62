#include "cli/profile/sample_csv.h"

#include "core/format/series_csv.h"

namespace gpuprof::inline cli {

Result<std::unique_ptr<SampleCsv>> SampleCsv::open(const std::string& file) {
    Result<Output> output = Output::open(file);
    if (!output.ok()) return output.error();
    output->write(series_heading());
    return std::unique_ptr<SampleCsv>(new SampleCsv(std::move(*output)));
}

void SampleCsv::publish() {
    std::lock_guard lock(mutex_);
    (void)output_.publish();
}

void SampleCsv::add(const PollResult& polled, TimeNs started) {
    std::lock_guard lock(mutex_);
    for (const Reading& reading : polled.readings) output_.write(series_line(reading, started));
    output_.flush();
}

}  // namespace gpuprof::cli
