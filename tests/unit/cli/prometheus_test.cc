// The Prometheus page: names, units, what is absent, what is escaped.
#include "cli/serve/prometheus.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>

#include "cli/http/endpoint.h"
#include "tests/unit/cli/sample_states.h"

namespace gpuprof {
namespace {

std::string page_of(const DrawnState& drawn, int ticks = 0, std::string_view problem = "") {
    return exposition(drawn.state, kNoon + ticks * kTick, "1.2.3", problem);
}

TEST(Prometheus, names_follow_from_the_unit) {
    EXPECT_EQ(exported(spec_of(Metric::util_gpu)).name, "gpu_profile_util_gpu_ratio");
    EXPECT_EQ(exported(spec_of(Metric::mem_used)).name, "gpu_profile_mem_used_bytes");
    EXPECT_EQ(exported(spec_of(Metric::power)).name, "gpu_profile_power_watts");
    EXPECT_EQ(exported(spec_of(Metric::temp)).name, "gpu_profile_temp_celsius");
    EXPECT_EQ(exported(spec_of(Metric::sm_clock)).name, "gpu_profile_clock_sm_hertz");
    EXPECT_EQ(exported(spec_of(Metric::energy)).name, "gpu_profile_energy_joules_total");
    EXPECT_EQ(exported(spec_of(Metric::ecc_corrected)).name, "gpu_profile_ecc_corrected_total");
    EXPECT_EQ(exported(spec_of(Metric::pcie_width)).name, "gpu_profile_pcie_width");
    EXPECT_EQ(exported(spec_of(Metric::gpm_nvlink_tx)).name, "gpu_profile_gpm_nvlink_tx_bytes_per_second");
    std::set<std::string> names;
    for (const MetricSpec& spec : kMetrics) {
        EXPECT_TRUE(std::regex_match(exported(spec).name, std::regex("gpu_profile_[a-z0-9_]+"))) << spec.name;
        EXPECT_TRUE(names.insert(exported(spec).name).second) << spec.name;
    }
}

TEST(Prometheus, values_are_in_base_units) {
    DrawnState drawn;
    drawn.read(0, {{Metric::util_gpu, 25}, {Metric::mem_used, 2}, {Metric::sm_clock, 1980}, {Metric::energy, 12.5}});
    std::string page = page_of(drawn), labels = "{gpu=\"0\",uuid=\"GPU-0\",name=\"NVIDIA H200\"}";
    EXPECT_NE(page.find("\ngpu_profile_util_gpu_ratio" + labels + " 0.25\n"), page.npos) << page;
    EXPECT_NE(page.find("\ngpu_profile_mem_used_bytes" + labels + " 2097152\n"), page.npos);
    EXPECT_NE(page.find("\ngpu_profile_clock_sm_hertz" + labels + " 1980000000\n"), page.npos);
    EXPECT_NE(page.find("# TYPE gpu_profile_energy_joules_total counter\n"), page.npos);
    EXPECT_NE(page.find("\ngpu_profile_build_info{version=\"1.2.3\"} 1\n"), page.npos);
}

TEST(Prometheus, what_is_absent_has_no_line) {
    DrawnState drawn(2);
    drawn.read(0, {{Metric::util_gpu, 0}});
    std::string page = page_of(drawn);
    EXPECT_NE(page.find("gpu_profile_util_gpu_ratio{gpu=\"0\""), page.npos);
    EXPECT_EQ(page.find("gpu_profile_util_gpu_ratio{gpu=\"1\""), page.npos);
    EXPECT_EQ(page.find("power"), page.npos);
    EXPECT_NE(page.find("gpu_profile_up{gpu=\"1\",uuid=\"GPU-1\",name=\"NVIDIA H200\"} 0\n"), page.npos);
    std::string later = page_of(drawn, 60);
    EXPECT_EQ(later.find("util_gpu"), later.npos);
    EXPECT_NE(later.find("gpu_profile_last_sample_age_seconds{gpu=\"0\",uuid=\"GPU-0\",name=\"NVIDIA H200\"} 60\n"),
              later.npos);
}

TEST(Prometheus, throttling_is_told_by_reason) {
    DrawnState drawn;
    drawn.read(0, {{Metric::throttle, 0x40}});
    std::string page = page_of(drawn);
    EXPECT_NE(page.find("reason=\"heat\"} 1\n"), page.npos) << page;
    EXPECT_NE(page.find("reason=\"power\"} 0\n"), page.npos);
}

TEST(Prometheus, an_end_of_sampling_is_seen) {
    DrawnState drawn;
    EXPECT_NE(page_of(drawn).find("gpu_profile_sampler_up 1\n"), std::string::npos);
    EXPECT_NE(page_of(drawn, 0, "the sampler died").find("gpu_profile_sampler_up 0\n"), std::string::npos);
}

// A name from a driver may hold anything; a line stays a line.
TEST(Prometheus, hostile_names_are_escaped) {
    DrawnState drawn(1, "a\"b\\c\nd{}\xff");
    drawn.read(0, {{Metric::util_gpu, 1}});
    std::string page = page_of(drawn);
    EXPECT_NE(page.find("name=\"a\\\"b\\\\c\\nd{}\xef\xbf\xbd\"} 0.01\n"), page.npos) << page;
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);)
        EXPECT_TRUE(line.rfind("# ", 0) == 0 || line.rfind("gpu_profile_", 0) == 0) << line;
}

TEST(HostPort, is_loopback_unless_a_host_is_written) {
    EXPECT_EQ(parse_host_port(":9400")->text(), "127.0.0.1:9400");
    EXPECT_EQ(parse_host_port("9400")->text(), "127.0.0.1:9400");
    EXPECT_EQ(parse_host_port("[::1]:80")->text(), "[::1]:80");
    EXPECT_EQ(parse_host_port("0.0.0.0:9400")->host, "0.0.0.0");
    EXPECT_TRUE(parse_host_port("localhost:1")->loopback());
    EXPECT_TRUE(parse_host_port("[::1]:1")->loopback());
    EXPECT_FALSE(parse_host_port("0.0.0.0:1")->loopback());
    EXPECT_FALSE(parse_host_port("[::]:1")->loopback());
    for (const char* wrong : {"", ":", "host", ":65536", ":-1", "::1:80", "a b:1", ":1x", "[::1", "/:1"})
        EXPECT_FALSE(parse_host_port(wrong).ok()) << wrong;
}

}  // namespace
}  // namespace gpuprof
