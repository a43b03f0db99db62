// What is left of names: nothing of what is private, everything that is public, and the same name for the same one.
#include "core/model/privacy/scrub.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/model/build/trace_builder.h"
#include "core/schema/privacy.h"
#include "tests/unit/path_text.h"
#include "tests/unit/processor_time.h"

namespace gpuprof {
namespace {

// In a recording of alice on node12.acme.
std::string scrub(ScrubOptions options, Privacy privacy, std::string_view given) {
    std::string text = path_text(given);
    ScrubNames names(options);
    names.learn_names(Privacy::host, "node12.acme");
    names.learn_names(Privacy::removed, path_text("cd %h/alice"));
    names.learn_names(privacy, text);
    names.learn(privacy, text);
    names.number();
    return names.scrub(privacy, text);
}

constexpr ScrubOptions kAll{.ranges = true, .kernels = true};
constexpr ScrubOptions kChoices[] = {{}, {.ranges = true}, {.kernels = true}, kAll};

TEST(Scrub, EveryTextColumnIsDeclared) {
    std::set<Privacy> kinds;
    for (const TableSpec& table : table_specs())
        for (const ColumnSpec& column : table.columns)
            if (column.type == ColumnType::Str) kinds.insert(column.privacy);
    EXPECT_EQ(kinds.size(), static_cast<std::size_t>(Privacy::removed) + 1);  // every kind is used
}

template <class Visit>
void each_text_column(Tables& tables, Visit&& visit) {
    tables.each_table([&](const TableSpec& spec, auto& table) {
        table.each_column([&](const ColumnSpec& column, auto& values) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(values)>, Column<StringId>>)
                visit(spec, column, table, values);
        });
    });
}

// A recording of alice on node12.acme whose only other texts are those in one column.
Trace planted(std::string_view table_name, std::string_view column_name, const std::vector<std::string>& texts) {
    Batch batch;
    ProcessTable& process = batch.tables.process;
    Row first = process.add();
    process.key.set(first, batch.intern("7"));
    process.host.set(first, batch.intern("node12.acme"));
    process.command.set(first, batch.intern(path_text("python %h/alice/run.py")));
    batch.tables.each_table([&](const TableSpec& spec, auto& table) {
        for (std::size_t i = 0; spec.name == table_name && i < texts.size(); ++i) {
            Row row = table.add();
            table.each_column([&](const ColumnSpec& column, auto& values) {
                using Values = std::remove_cvref_t<decltype(values)>;
                if constexpr (std::is_same_v<Values, Column<StringId>>)
                    if (column.name == column_name) values.set(row, batch.intern(texts[i]));
                if constexpr (std::is_same_v<Values, Column<std::int64_t>>) values.set(row, 0);
            });
        }
    });
    batch.tables.close();
    TraceBuilder builder({path_text("%h/alice/trace.json"), "test", "tool"});
    builder.append(std::move(batch));
    return std::move(builder).finish();
}

std::vector<std::string> texts_of(const Trace& trace) {
    std::vector<std::string> all = {trace.origin().file, trace.origin().tool};
    for (std::size_t id = 0; id < trace.strings().size(); ++id)
        all.emplace_back(trace.text(StringId{static_cast<std::uint32_t>(id)}));
    return all;
}
bool any_has(const std::vector<std::string>& texts, std::string_view part) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string& text) { return text.find(part) != text.npos; });
}

// Whether a word that may be private goes with these options; in texts of others it stays.
bool goes(Privacy privacy, ScrubOptions options) {
    switch (privacy) {
        case Privacy::term: return false;
        case Privacy::kernel: return options.kernels;
        case Privacy::scope: return options.kernels || options.ranges;
        case Privacy::stack:
        case Privacy::metric:
        case Privacy::op:
        case Privacy::range: return options.ranges;
        default: return true;
    }
}

// Each column alone, with each choice of options, so that no other column can hide what one leaves.
TEST(Scrub, NothingPrivateIsLeftOfAnyColumn) {
    std::vector<std::string> names;
    for (const char* text : {"%h/alice/run.py",
                             "load %h/alice/run.py",
                             "%h/alice/run.py(12): load",
                             "at %h/alice/run.py:12",
                             "load (%h/alice/run.py:3);main (libalice.so)",
                             "%h/alice/run.py:load@12",
                             "file://%h/alice/run.py",
                             "C:\\Users\\alice\\run.py",
                             "alice/project/run.py:12",
                             "alice",
                             "alice_step",
                             "node12",
                             "node12.acme:12/13",
                             "node12.acme:%h/alice",
                             "on node12.acme",
                             "tcp://node12:29500",
                             "alice@node12.acme",
                             "[\"alice\", \"1\"]",
                             "python %h/alice/run.py",
                             "alice/7 9"})
        names.push_back(path_text(text));
    const std::vector<std::string> words = {"acme", "acme step", "acme/12", "[\"acme\", \"1\"]"};
    Tables all;
    each_text_column(all, [&](const TableSpec& table, const ColumnSpec& column, auto&, auto&) {
        Trace with_names = planted(table.name, column.name, names),
              with_words = planted(table.name, column.name, words);
        for (std::string_view part : {"alice", "node12", "run.py"}) ASSERT_TRUE(any_has(texts_of(with_names), part));
        for (ScrubOptions options : kChoices) {
            std::string where =
                fmt::format("{}.{} ranges {} kernels {}", table.name, column.name, options.ranges, options.kernels);
            Trace clean = scrubbed(planted(table.name, column.name, names), options);
            for (const std::string& text : texts_of(clean))
                for (std::string_view part : {"alice", "node12", "run.py"})
                    EXPECT_EQ(text.find(part), text.npos) << where << ": " << text;
            std::vector<std::string> left = texts_of(scrubbed(planted(table.name, column.name, words), options));
            EXPECT_EQ(any_has(left, "acme"), !goes(column.privacy, options)) << where;
        }
    });
}

TEST(Scrub, KnownFactsHaveNoNames) {
    Batch batch;
    MetaTable& meta = batch.tables.meta;
    for (auto [key, value] : {std::pair("os", "Linux of alice on node12"), {"mine", "acme"}, {"cpu", "Xeon"}}) {
        Row row = meta.add();
        meta.key.set(row, batch.intern(key));
        meta.value.set(row, batch.intern(value));
    }
    ProcessTable& process = batch.tables.process;
    process.host.set(process.add(), batch.intern("node12"));
    batch.tables.close();
    TraceBuilder builder({path_text("%h/alice/trace.json"), "test", path_text("tool in %h/alice")});
    builder.append(std::move(batch));
    std::vector<std::string> left = texts_of(scrubbed(std::move(builder).finish(), {}));
    for (std::string_view part : {"node12", "mine", "acme"}) EXPECT_FALSE(any_has(left, part)) << part;
    EXPECT_TRUE(any_has(left, "Xeon"));
}

// Names that show what they are, wherever they stand, in texts that are kept.
TEST(Scrub, KeptTextsLoseFilesHostsAndUsers) {
    for (auto [text, expected] : {
             std::pair("load %h/alice/data.csv", "load file-1.csv"),
             {"load '%h/alice/my data/part 1.bin' twice", "load 'file-1.bin' twice"},
             {"load %h/bob/my data/part.bin twice", "load file-1.bin twice"},
             {"load=/data/alice (old)/x", "load=file-1"},
             {"open ~/x.py and ../%h/y", "open file-2.py and file-1"},
             {"open C:\\Users\\alice\\x.py:3", "open file-1.py:3"},
             {"open \\\\server\\share\\x", "open file-1"},
             {"open project\\secret\\x", "open file-1"},
             {"run train.py", "run file-1.py"},
             {"$train.py:12 step", "$file-1.py:12 step"},
             {"get https://acme.org/x?y=1", "get address-1"},
             {"rendezvous 10.0.0.1:29500", "rendezvous address-1:29500"},
             {"by bob@acme.org", "by user-1"},
             {"step of alice on node12", "step of user-1 on host-1"},
             {"alice_step (node12.acme)", "user-1_step (host-1)"},
             {"load-%h/alice/x", "file-1"},
         })
        EXPECT_EQ(scrub({}, Privacy::range, text), expected) << text;
    for (const char* text : {"aten::div",
                             "jit(f)/jit(main)/mul",
                             "Torch-Compiled Region: 0/0",
                             "/model/layer.0/MatMul",
                             "a / b",
                             "malice",
                             "encoder/layer.0/attention",
                             "FSDP::pre_forward (encoder.block.22.layer.0)",
                             "and/or",
                             "epoch 3/10",
                             "1.5/2.0",
                             "cudnn 9.1.0.70",
                             "void at::native::f<4, at::detail::Array<char*, 1> >(int, at::native::F<long>)",
                             "Cijk_Ailk_Bljk_HSS_BH_MT64x64x64.kd",
                             "memcpy@plt",
                             "50%",
                             "loss.item()",
                             "x -> y",
                             "a:b:c",
                             "Schritt für x"})
        EXPECT_EQ(scrub({}, Privacy::range, text), text);
}

// Frames keep function and line where the form is known; of other texts nothing stays.
TEST(Scrub, FramesLoseFilesHostsAndUsers) {
    for (auto [text, expected] : {
             std::pair("C:\\Users\\alice\\my project\\x.py(12): load", "file-1.py(12): load"),
             {"load (C:\\Users\\Alice Smith\\x.py:12)", "load (file-1.py:12)"},
             {"load (file://%h/alice/x.py:3)", "load (file-1.py:3)"},
             {"file://%h/alice/x.py", "file-1.py"},
             {"load (%h/Alice Smith/my (old) project/x.py:12)", "load (file-1.py:12)"},
             {"%h/alice/a (1): b/x.py(12): load", "file-1.py(12): load"},
             {"<module> (<ipython-input-1-0a1b2c>:3)", "<module> (<ipython-input-1-0a1b2c>:3)"},
             {"<ipython-input-1>", "<ipython-input-1>"},
             {"f (<%h/alice/x>:3)", "f (file-1:3)"},
             {"f (<alice notebook>:3)", "f (file-1:3)"},
             {"at %h/alice/x.js:3:4", "at file-1.js:3:4"},
             {"at %h/alice/run", "at file-1"},
             {"%h/alice/x.py:12", "file-1.py:12"},
             {"alice/project/x.py:12", "file-1.py:12"},
             {"load (alice/project/x.py:12)", "load (file-1.py:12)"},
             {"alice\\project\\x.py:12", "file-1.py:12"},
             {"%h/alice/x.py:load@12", "file-1.py:load@12"},
             {"%h/alice/x.py:12@load", "file-1.py:12@load"},
             {"  File \"%h/alice/x.py\", line 12, in load", "  File \"file-1.py\", line 12, in load"},
             {"загрузить (%h/алиса/проект.py:12)", "загрузить (file-1.py:12)"},
             {"%h/алиса/проект.py(12): загрузить", "file-1.py(12): загрузить"},
             {"void (anonymous namespace)::f<int>(int) (%h/alice/libx.so.1+0x12)",
              "void (anonymous namespace)::f<int>(int) (file-1.so+0x12)"},
             {"f (libcustomer.so)", "f (file-1.so)"},
             {"f (torch/../alice/x.py:3)", "f (file-1.py:3)"},
             {"f (%h/alice/lib/python3.11/acme.py:3)", "f (file-1.py:3)"},
             {"f (%h/alice/lib/python3.11/site-packages/acme/x.py:3)", "f (file-1.py:3)"},
             {"load of alice in %h/alice/x", "file-1"},
             {"Alice Smith's project", "frame-1"},
             {"Alice Smith (old)", "frame-1"},
             {"in load, see '%h/alice/x.py'", "file-1"},
             {"<function load at %h/alice>", "file-1"},
             {"alice_load (%h/alice/x.py:3)", "user-1_load (file-1.py:3)"},
             {"f (%h/alice;old/x.py:3)", "file-1;file-2"},
         }) {
        std::string left = scrub({}, Privacy::stack, text);
        EXPECT_EQ(left, expected) << text;
    }
    for (const char* text :
         {"_start", "std::vector<int>::operator/(int) const", "memcpy@plt", "operator new(unsigned long)", "[vdso]",
          "nn.Module: Linear_10", "<built-in method permute of Tensor object at 0x7fb0db7eafd0>", "0x7f12",
          "std::function<void ()>::operator()() const", "<T as core::Trait>::f", "f.constprop.0", "<lambda>",
          "f()::{lambda(int)#1}::operator()(int) const", "cuLaunchKernel (libcuda.so.1)", "f (libtorch_cuda.so+0x12)",
          "call (torch/nn/modules/module.py:5)", "torch/nn/modules/module.py(5): call", "run (<string>:1)",
          "get (<frozen _collections_abc>:5)"})
        EXPECT_EQ(scrub({}, Privacy::stack, text), text);
}

TEST(Scrub, NodesOfCallTreesAreRangesKernelsOrFrames) {
    for (auto [text, alone, ranges, kernels] :
         {std::tuple("load (%h/alice/x.py:5)", "load (file-1.py:5)", "function-1 (file-1.py:5)", "load (file-1.py:5)"),
          {"%h/alice/x.py:load@5", "file-1.py:load@5", "file-1.py:function-1@5", "file-1.py:load@5"},
          {"<module> (/src/acme:5)", "<module> (file-1:5)", "<module> (file-1:5)", "<module> (file-1:5)"},
          {"bind (/x/site-packages/jax/core.py:7)", "bind (jax/core.py:7)", "bind (jax/core.py:7)",
           "bind (jax/core.py:7)"},
          {"matmul_kernel_0d1d2d", "matmul_kernel_0d1d2d", "scope-1", "scope-1"},
          {"step (epoch:12)", "step (epoch:12)", "scope-1", "scope-1"},
          {"train %h/alice", "train file-1", "scope-1", "scope-1"}}) {
        EXPECT_EQ(scrub({}, Privacy::scope, text), alone);
        EXPECT_EQ(scrub({.ranges = true}, Privacy::scope, text), ranges);
        EXPECT_EQ(scrub({.kernels = true}, Privacy::scope, text), kernels);
    }
}

TEST(Scrub, ColumnsOfNumbersHoldNothingElse) {
    for (const char* text : {"[[1, 2], []]", "0-504/8", "0x7f3a", "5f3a", "[(1,0), (2,1)]", "[1, 2, ...]"})
        EXPECT_EQ(scrub({}, Privacy::numbers, text), text);
    for (const char* text : {"[[acme]]", "//bad", "\"1\"", "run.py"}) EXPECT_EQ(scrub({}, Privacy::numbers, text), "");
}

// 16 times the text takes about 16 times as long; 256 times if the work grew with the square.
TEST(Scrub, IsLinearOnHostileText) {
    for (std::string_view piece : {"%h/a (", "~/a b ", "a@", "File \"", "\\a", "C:\\", "x.py:1 (", "a://", "a.b.",
                                   "): ", "(1): ", " (/data/", "operator/", "a.so", "node12"}) {
        std::string few, many;
        while (few.size() < 4'000) few += piece;
        for (int i = 0; i < 16; ++i) many += few;
        for (Privacy privacy : {Privacy::range, Privacy::stack, Privacy::scope}) {
            auto seconds = [&](const std::string& text) {
                double begun = processor_seconds();
                scrub({}, privacy, text);
                return processor_seconds() - begun;
            };
            EXPECT_LT(seconds(many), 100 * seconds(few) + 0.005) << piece;
        }
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
             {Privacy::term, "HtoD", ""},
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
