// What a page for others says of paths and users.
#include "core/model/privacy/private_paths.h"

#include <gtest/gtest.h>

#include "core/model/build/trace_builder.h"
#include "tests/unit/path_text.h"

namespace gpuprof {
namespace {

const PrivateNames kNames{.folders = {"/scratch/acme/secret run"}, .users = {"alice"}};

std::string shown(Privacy privacy, std::string_view text) { return without_folders(path_text(text), privacy, kNames); }

TEST(PrivatePaths, FramesKeepTheirFile) {
    EXPECT_EQ(shown(Privacy::stack, "%h/alice/my project/train.py(12): step"), "train.py(12): step");
    EXPECT_EQ(shown(Privacy::stack, "step (/data/acme/net.py:3);main (/data/acme/run:9)"),
              "step (net.py:3);main (run:9)");
    EXPECT_EQ(shown(Privacy::stack, "%h/alice/venv/lib/python3.11/site-packages/torch/nn/module.py(5): call"),
              "torch/nn/module.py(5): call");
    EXPECT_EQ(shown(Privacy::stack, "%h/alice/python/lib/python3.11/runpy.py(5): run"), "runpy.py(5): run");
    EXPECT_EQ(shown(Privacy::stack, "torch/nn/module.py(5): call"), "torch/nn/module.py(5): call");
}

TEST(PrivatePaths, CommandLinesKeepFilesAndSystemPaths) {
    EXPECT_EQ(shown(Privacy::removed, "/usr/bin/python3 %h/alice/x/train.py --data=/data/acme/images --user alice"),
              "/usr/bin/python3 train.py --data=~ --user user");
    EXPECT_EQ(shown(Privacy::removed, "python3 '%h/alice/my project/train.py' \"/data/acme/set.h5\""),
              "python3 'train.py' \"set.h5\"");
    EXPECT_EQ(shown(Privacy::removed, "%h/alice/venv/bin/python3 -m acme.run"), "python3 -m acme.run");
    EXPECT_EQ(shown(Privacy::removed, "python3 %h/alice/my secret project/run.py a/b"), "python3 run.py a/b");
    EXPECT_EQ(shown(Privacy::removed, "%h/alice/my project/bin/run --x a/b"), "run --x a/b");
    EXPECT_EQ(shown(Privacy::removed, "%h/alice"), "~");
    EXPECT_EQ(shown(Privacy::removed, "cd %h/alice/ && git clone https://host/alice2/x"),
              "cd ~ && git clone https://host/alice2/x");
    EXPECT_EQ(shown(Privacy::fact, "file://%h/alice/a/b.json"), "file://b.json");
}

TEST(PrivatePaths, NamesThatProgramsChooseLoseOnlyPrivateFolders) {
    EXPECT_EQ(shown(Privacy::range, "/model/layer.0/MatMul"), "/model/layer.0/MatMul");
    EXPECT_EQ(shown(Privacy::kernel, "a /b/c"), "a /b/c");
    EXPECT_EQ(shown(Privacy::range, "load %h/alice/data.csv"), "load data.csv");
    EXPECT_EQ(shown(Privacy::range, "load /scratch/acme/secret run/a.bin"), "load a.bin");
    EXPECT_EQ(shown(Privacy::range, "alice"), "alice");
}

TEST(PrivatePaths, UsersAreWholeWords) {
    EXPECT_EQ(shown(Privacy::host, "alice-laptop"), "user-laptop");
    EXPECT_EQ(shown(Privacy::removed, "malice alices"), "malice alices");
}

// A row with a private text in each of its text columns, in every table; the user is known from the texts alone.
TEST(PrivatePaths, NoColumnKeepsAFolderOrAUser) {
    for (const char* text :
         {"%h/carol/acme/run.py(12): step", "step (%h/carol/acme/run.py:3);main (%h/carol/acme/x.py:1)",
          "python3 %h/carol/acme/run.py --log %h/carol/acme", "%u/carol/acme/", "carol@node %h/carol"}) {
        Batch batch;
        batch.tables.each_table([&](const TableSpec&, auto& table) {
            Row row = table.add();
            table.each_column([&](const ColumnSpec&, auto& values) {
                if constexpr (std::is_same_v<std::remove_cvref_t<decltype(values)>, Column<StringId>>)
                    values.set(row, batch.intern(path_text(text)));
                else
                    values.set(row, 1);
            });
        });
        TraceBuilder builder({"x", "test", ""});
        builder.append(std::move(batch));
        Trace clean = without_folders(std::move(builder).finish(), {});
        clean.tables().each_table([&](const TableSpec& spec, const auto& table) {
            table.each_column([&](const ColumnSpec& column, const auto& values) {
                if constexpr (std::is_same_v<std::remove_cvref_t<decltype(values)>, Column<StringId>>)
                    for (Row row = 0; row < table.rows; ++row) {
                        if (!values.has(row)) continue;
                        std::string_view kept = clean.text(values[row]);
                        EXPECT_EQ(kept.find("acme"), std::string_view::npos)
                            << spec.name << '.' << column.name << ' ' << kept;
                        EXPECT_EQ(kept.find("/carol"), std::string_view::npos) << spec.name << '.' << column.name;
                    }
            });
        });
    }
}

}  // namespace
}  // namespace gpuprof
