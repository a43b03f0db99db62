// What is left of names: nothing of what is private, everything that is public, and the same name for the same one.
#include "core/model/scrub.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "core/model/trace_builder.h"
#include "core/schema/privacy.h"

namespace gpuprof {
namespace {

std::string scrub(ScrubOptions options, Privacy privacy, std::string_view text) {
    ScrubNames names(options);
    names.learn_host("node12.acme");
    names.learn(privacy, text);
    names.number();
    return names.scrub(privacy, text);
}

constexpr ScrubOptions kAll{.ranges = true, .kernels = true};

TEST(Scrub, EveryTextColumnIsDeclared) {
    std::set<Privacy> kinds;
    for (const TableSpec& table : table_specs())
        for (const ColumnSpec& column : table.columns)
            if (column.type == ColumnType::Str) kinds.insert(column.privacy);
    EXPECT_EQ(kinds.size(), static_cast<std::size_t>(Privacy::removed) + 1);  // every kind is used
}

// A row with the same private text in each of its columns that may hold one, in every table.
TEST(Scrub, NothingPrivateIsLeftOfAnyColumn) {
    for (const char* text :
         {"/data/acme/run.py(12): acme", "acme (/data/acme/run.py:3);acme", "acme", "acme:12/13", "node12.acme:5",
          "[\"acme\", \"1\"]", "python /data/acme/run.py", "add (acme.so);acme", "acme/7 9"}) {
        Batch batch;
        batch.tables.each_table([&](const TableSpec&, auto& table) {
            Row row = table.add();
            table.each_column([&](const ColumnSpec& column, auto& values) {
                if constexpr (std::is_same_v<std::remove_cvref_t<decltype(values)>, Column<StringId>>)
                    if (column.privacy != Privacy::open) values.set(row, batch.intern(text));
                if constexpr (std::is_same_v<std::remove_cvref_t<decltype(values)>, Column<std::int64_t>>)
                    values.set(row, 0);
            });
        });
        batch.tables.close();
        TraceBuilder builder({"/data/acme/trace.json", "test", "tool"});
        builder.append(std::move(batch));
        Trace trace = scrubbed(std::move(builder).finish(), kAll);
        for (std::size_t id = 0; id < trace.strings().size(); ++id)
            EXPECT_EQ(trace.text(StringId{static_cast<std::uint32_t>(id)}).find("acme"), std::string_view::npos)
                << text << " -> " << trace.text(StringId{static_cast<std::uint32_t>(id)});
        EXPECT_EQ(trace.origin().file.find("acme"), std::string::npos);
        EXPECT_EQ(trace.kernel().rows, 1u);
    }
}

TEST(Scrub, KeepsWhatEveryoneHas) {
    for (auto [privacy, text, expected] : {
             std::tuple(Privacy::stack, "torch/nn/modules/module.py(1): _call_impl", ""),
             {Privacy::stack, "__next__ (/x/lib/python3.11/site-packages/torch/utils/data/dataloader.py:5)",
              "__next__ (torch/utils/data/dataloader.py:5)"},
             {Privacy::stack, "run (/usr/lib/python3.11/threading.py:5);<module> (<string>:1)",
              "run (threading.py:5);<module> (<string>:1)"},
             {Privacy::stack, "cuLaunch (/usr/lib/x86_64-linux-gnu/libcuda.so.1)", "cuLaunch (libcuda.so.1)"},
             {Privacy::stack, "<built-in method run_backward of type object>", ""},
             {Privacy::op, "aten::addmm", ""},
             {Privacy::op, "autograd::engine::evaluate_function: aten::mm", ""},
             {Privacy::range, "ProfilerStep#12", ""},
             {Privacy::range, "nccl:all_reduce", ""},
             {Privacy::program, "python3.11", ""},
             {Privacy::program, "/data/acme/bin/python3 /data/b.py", "python3"},
             {Privacy::arguments, "[\"\", \"1\", \"[1, 2]\", \"True\", \"0.5e-3\", \"acme\", \"a\\\"b\"]",
              "[\"\", \"1\", \"[1, 2]\", \"True\", \"0.5e-3\", \"\", \"\"]"},
             {Privacy::identity, "709/710", ""},
             {Privacy::identity, "709", ""},
             {Privacy::identity, "node12.acme:709/710", "host-1:709/710"},
             {Privacy::identity, "run.json/709", "process-1/709"},
             {Privacy::open, "HtoD", ""},
         })
        EXPECT_EQ(scrub(kAll, privacy, text), std::string_view(expected).empty() ? text : expected);
}

TEST(Scrub, ReplacesNamesOnlyWhenAsked) {
    EXPECT_EQ(scrub({}, Privacy::kernel, "acme_kernel"), "acme_kernel");
    EXPECT_EQ(scrub(kAll, Privacy::kernel, "acme_kernel"), "kernel-1");
    EXPECT_EQ(scrub({}, Privacy::range, "acme step"), "acme step");
    EXPECT_EQ(scrub(kAll, Privacy::range, "acme step"), "range-1");
    EXPECT_EQ(scrub(kAll, Privacy::op, "Optimizer.step#Acme.step"), "Optimizer.step#range-1");
    EXPECT_EQ(scrub({}, Privacy::stack, "/data/acme/run.py(12): load"), "file-1.py(12): load");
    EXPECT_EQ(scrub(kAll, Privacy::stack, "/data/acme/run.py(12): load"), "file-1.py(12): function-1");
}

TEST(Scrub, NamesKeepTheirOrder) {
    ScrubNames names(kAll);
    for (int i = 0; i < 12; ++i) names.learn(Privacy::kernel, std::string(1, static_cast<char>('l' - i)));
    names.number();
    EXPECT_EQ(names.scrub(Privacy::kernel, "a"), "kernel-01");
    EXPECT_EQ(names.scrub(Privacy::kernel, "l"), "kernel-12");
    EXPECT_EQ(names.scrub(Privacy::kernel, "a"), "kernel-01");
}

}  // namespace
}  // namespace gpuprof
