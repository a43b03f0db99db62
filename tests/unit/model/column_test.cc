// Columns against a plain vector of optionals, through every way of filling and reordering them.
#include "core/model/column.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <vector>

namespace gpuprof {
namespace {

using Model = std::vector<std::optional<std::int64_t>>;

void expect_equal(const Column<std::int64_t>& column, const Model& model) {
    ASSERT_EQ(column.size(), model.size());
    bool all = true, none = true;
    for (Row row = 0; row < model.size(); ++row) {
        ASSERT_EQ(column.get(row), model[row]) << row;
        ASSERT_EQ(column[row], model[row].value_or(0)) << row;
        all = all && model[row].has_value();
        none = none && !model[row].has_value();
    }
    EXPECT_EQ(column.all_present(), all);
    if (none) {
        EXPECT_EQ(column.values(), nullptr);
    }
}

Column<std::int64_t> column_of(const Model& model) {
    Column<std::int64_t> column;
    for (Row row = 0; row < model.size(); ++row)
        if (model[row]) column.set(row, *model[row]);
    column.pad(model.size());
    return column;
}

Model random_model(std::mt19937& random) {
    Model model(random() % 200);
    unsigned present = static_cast<unsigned>(random() % 4);  // none, some, most, all
    for (auto& value : model)
        if (random() % 3 < present) value = static_cast<std::int64_t>(random() % 100);
    return model;
}

TEST(Column, FillsAppendsAndGathers) {
    std::mt19937 random(1);
    for (int round = 0; round < 500; ++round) {
        Model a = random_model(random), b = random_model(random);
        Column<std::int64_t> column = column_of(a);
        expect_equal(column, a);

        column.append(column_of(b));
        Model both = a;
        both.insert(both.end(), b.begin(), b.end());
        expect_equal(column, both);

        column.set(static_cast<Row>(both.size()), 7);
        both.push_back(7);
        PodVector<Row> order;
        Model gathered;
        for (Row row = static_cast<Row>(both.size()); row-- > 0;)
            if (random() % 4 != 0) {
                order.push_back(row);
                gathered.push_back(both[row]);
            }
        column.gather(order);
        ASSERT_EQ(column.size(), gathered.size());
        for (Row row = 0; row < gathered.size(); ++row) ASSERT_EQ(column.get(row), gathered[row]);
    }
}

}  // namespace
}  // namespace gpuprof
