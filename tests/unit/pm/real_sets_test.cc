// The sets against a real libcupti's own lists of chips, which need neither GPU nor driver:
//   GPUPROF_TEST_CUPTI=.../nvidia/cu13/lib/libcupti.so.13 unit_tests --gtest_filter='RealCupti*'
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "collect/pm/host.h"

namespace gpuprof::pm {
namespace {

class RealCupti : public testing::Test {
protected:
    void SetUp() override {
        const char* named = std::getenv("GPUPROF_TEST_CUPTI");
        if (named == nullptr) GTEST_SKIP() << "GPUPROF_TEST_CUPTI names no libcupti";
        std::string path = named;
        dlopen((path.substr(0, path.rfind('/')) + "/libnvperf_host.so").c_str(), RTLD_LAZY | RTLD_GLOBAL);
        void* library = dlopen(named, RTLD_LAZY);
        ASSERT_NE(library, nullptr) << dlerror();
#define GPUPROF_PM_BIND(member, name, Parameters) \
    api_.member = {reinterpret_cast<int (*)(Parameters*)>(dlsym(library, #name)), #name};
        GPUPROF_PM_REQUIRED(GPUPROF_PM_BIND)
#undef GPUPROF_PM_BIND
    }
    // Counters of the set that one pass of the chip takes.
    std::size_t taken(const char* chip, const char* set) {
        Result<Plan> plan =
            make_plan(api_, Chip{.device = 0, .name = chip, .availability = {}}, *find_counter_set(set));
        return plan.ok() ? plan->counters.size() : 0;
    }

    Api api_;
};

TEST_F(RealCupti, takes_whole_sets_on_hopper_and_most_elsewhere) {
    EXPECT_EQ(taken("GH100", "default"), 12U);
    EXPECT_EQ(taken("GH100", "memory"), 7U);
    EXPECT_EQ(taken("GH100", "sm"), 6U);
    EXPECT_GE(taken("GA100", "default"), 9U);
    EXPECT_GE(taken("AD102", "default"), 9U);
    EXPECT_GE(taken("GA102", "memory"), 7U);
    EXPECT_GE(taken("TU102", "default"), 8U);
    EXPECT_EQ(taken("GV100", "default"), 0U);  // Volta has no PM sampling
}

}  // namespace
}  // namespace gpuprof::pm
