// gpuprof_options_json() declares every field of the structures of options.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "capi/gpuprof.h"

namespace {

// Becomes a value of any type.
struct AnyField {
    template <class Field>
    operator Field() const;
};

// The number of fields: the most values that can initialise the structure.
template <class Structure, class... Fields>
constexpr std::size_t count_fields() {
    if constexpr (requires { Structure{Fields{}..., AnyField{}}; })
        return count_fields<Structure, Fields..., AnyField>();
    else
        return sizeof...(Fields);
}

std::size_t declared_fields(const std::string& structure) {
    std::string_view text = gpuprof_options_json();
    text.remove_prefix(text.find("\"" + structure + "\""));
    text = text.substr(0, text.find(']'));
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find("\"field\"", at)) != std::string_view::npos; ++at) ++count;
    return count;
}

// The first field is the size of the structure.
TEST(OptionsJson, DeclaresEveryField) {
    EXPECT_EQ(declared_fields("bench"), count_fields<gpuprof_bench_options>() - 1);
    EXPECT_EQ(declared_fields("monitor"), count_fields<gpuprof_monitor_options>() - 1);
}

}  // namespace
