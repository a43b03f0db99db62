// Columns against a plain vector of optionals, through every way of filling and reordering them.
#include "core/model/column.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <utility>
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

// Narrowed, it has the same values in fewer bytes, and more can follow.
TEST(Column, IsNarrowedToTheBytesOfItsLargestValue) {
    std::mt19937 random(5);
    for (int bytes = 1; bytes <= 8; ++bytes)
        for (int round = 0; round < 20; ++round) {
            Model model = random_model(random);
            for (auto& value : model)
                if (value) value = static_cast<std::int64_t>(random()) << 31 >> (63 - (8 * bytes - 1)) & INT64_MAX;
            model.push_back(static_cast<std::int64_t>(std::uint64_t{1} << (8 * bytes - 1)));
            Column<std::int64_t> column = column_of(model);
            column.narrow();
            EXPECT_EQ(column.width(), bytes == 8 ? 0 : bytes);
            expect_equal(column, model);
            const std::int64_t more[] = {1, 2};
            column.extend_packed(nullptr, 2, 1, 2);
            ASSERT_TRUE(column.write_packed(static_cast<Row>(model.size()), more, 2));
            model.insert(model.end(), {1, 2});
            expect_equal(column, model);
            Column<std::int64_t> copy;
            copy.append(column);
            expect_equal(copy, model);
        }
}

TEST(Column, StoresARepeatedValueOnce) {
    std::mt19937 random(3);
    for (int round = 0; round < 500; ++round) {
        Column<std::int64_t> column;
        Model model;
        for (int step = 0; step < 8; ++step) {
            auto value = static_cast<std::int64_t>(random() % 2);
            std::size_t n = random() % 70;
            Row row = model.empty() ? 0 : static_cast<Row>(random() % model.size());
            PodVector<Row> order;
            switch (random() % 6) {
                case 0: column.repeat(value, n), model.insert(model.end(), n, value); break;
                case 1: column.set(static_cast<Row>(model.size()), value), model.push_back(value); break;
                case 2: column.pad(model.size() + n), model.resize(model.size() + n); break;
                case 3: {
                    Model more(n, value);
                    more.resize(n + random() % 2 * n);
                    Column<std::int64_t> other;
                    other.repeat(value, n);
                    other.pad(more.size());
                    column.append(other);
                    model.insert(model.end(), more.begin(), more.end());
                    break;
                }
                case 4:
                    if (!model.empty() && model[row]) column.change(row, value), model[row] = value;
                    break;
                case 5:
                    for (row = static_cast<Row>(std::min(n, model.size())); row > 0; --row) order.push_back(row - 1);
                    column.gather(order);
                    model.resize(order.size());
                    std::reverse(model.begin(), model.end());
                    break;
            }
            ASSERT_EQ(column.size(), model.size());
            for (row = 0; row < model.size(); ++row) {
                ASSERT_EQ(column.get(row), model[row]);
                ASSERT_EQ(column[row], model[row].value_or(0));
            }
            if (!column.none_present()) {
                EXPECT_TRUE(std::equal(model.begin(), model.end(), std::as_const(column).values(),
                                       [](const auto& a, std::int64_t b) { return a.value_or(0) == b; }));
            }
        }
    }
}

TEST(Column, PacksRows) {
    std::mt19937 random(5);
    const std::int64_t values[] = {0, 255, 256, 65'536, std::int64_t{1} << 32, -1};
    for (int round = 0; round < 500; ++round) {
        Column<std::int64_t> column;
        Model model;
        for (int step = 0; step < 8; ++step) {
            std::size_t n = random() % 70, old = model.size();
            std::vector<std::int64_t> rows(n, values[random() % static_cast<unsigned>(round % 6 + 1)]);
            Column<std::int64_t> one = column_of(Model(n, 3));
            switch (random() % 4) {
                case 0: column.append(one), rows.assign(n, 3); break;
                case 1: one = column, column = one, n = 0; break;
                case 2:
                    if (old > 0) column.change(0, values[round % 6]), model[0] = values[round % 6];
                    n = 0;
                    break;
                default:
                    column.extend_packed(nullptr, n, 1, 100);
                    if (column.write_packed(static_cast<Row>(old), rows.data(), n)) break;
                    column.mutable_values();
                    EXPECT_TRUE(column.write_packed(static_cast<Row>(old), rows.data(), n));
            }
            for (std::size_t i = 0; i < n; ++i) model.push_back(rows[i]);
            expect_equal(column, model);
            bool same = model.empty() || std::equal(model.begin(), model.end(), std::as_const(column).values(),
                                                    [](const auto& a, std::int64_t b) { return *a == b; });
            EXPECT_TRUE(same);
        }
    }
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

TEST(Column, HasNoValuesOnceAllRowsAreDropped) {
    Column<std::int64_t> column;
    column.repeat(5, 3);
    EXPECT_EQ(column.values()[2], 5);
    column.gather({});
    EXPECT_EQ(column.size(), 0u);
    EXPECT_EQ(column.values(), nullptr);
    column.repeat(7, 2);
    EXPECT_EQ(column.values()[1], 7);
}

TEST(Column, FindsTheFirstRowFromAValueOn) {
    std::minstd_rand random(1);
    for (std::size_t rows : {0, 1, 2, 7, 500}) {
        std::vector<std::int64_t> model(rows);
        for (auto& each : model) each = static_cast<std::int64_t>(random() % 300);
        std::sort(model.begin(), model.end());
        Column<std::int64_t> column;
        column.append(model.data(), nullptr, rows);
        for (bool narrow : {false, true}) {
            if (narrow) column.narrow();
            for (std::int64_t value = -1; value <= 301; ++value)
                ASSERT_EQ(column.lower_bound(value),
                          std::lower_bound(model.begin(), model.end(), value) - model.begin());
        }
    }
}

}  // namespace
}  // namespace gpuprof
