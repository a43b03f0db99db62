// No importer claims another's files: for a file of every format, its own importer is surer than all others.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "io/importers/importer.h"
#include "tests/unit/source_folder.h"

namespace gpuprof::test {
namespace {

void expect_own(std::string_view own, std::string_view head, std::string_view file) {
    int mine = 0, other = 0;
    std::string_view surest = "none";
    for (const Importer& importer : all_importers()) {
        int certainty = importer.sniff(head);
        if (importer.name == own) {
            mine = certainty;
        } else if (certainty > other) {
            other = certainty;
            surest = importer.name;
        }
    }
    EXPECT_GT(mine, other) << file << ": " << own << " against " << surest;
}

TEST(Sniffers, EveryFileAgainstEveryImporter) {
    constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
        {"capture", "tests/fixtures/instructions/samples.gpuprof"},
        {"kineto", "tests/fixtures/kineto/triton.json.gz"},
        {"kineto", "tests/fixtures/public/amd_trace__mi250_minitoy_train_ROCm6_2_kineto.json.gz"},
        {"nsys", "tests/fixtures/nsys/mock.sqlite.gz"},
        {"nsys", "tests/fixtures/nsys/h100_2gpu_1s.sqlite.zst"},
        {"nsys_stats", "tests/fixtures/nsys/mock_gpu_trace.csv"},
        {"ncu", "tests/fixtures/ncu/kernels.raw.csv.gz"},
        {"ncu", "tests/fixtures/ncu/triton.details.csv.gz"},
        {"smi", "tests/fixtures/nvidia-smi/h200-580.csv"},
        {"smi", "tests/fixtures/nvidia-smi/h200-580-dmon.txt"},
        {"smi", "tests/fixtures/nvidia-smi/h200-580-q.xml"},
        {"torch_snapshot", "tests/fixtures/memory/growth.snapshot.pickle.gz"},
        {"torch_timeline", "tests/fixtures/memory/memory_analysis__memory_timeline.raw.zst"},
        {"flight_recorder", "tests/fixtures/flight/nccl_trace_rank_0"},
        {"flight_recorder", "seeds/flight/dump.json"},
        {"nccl_inspector", "seeds/inspector/header.jsonl"},
        {"xplane", "tests/fixtures/jax/mlp.xplane.pb.zst"},
        {"xprof_json", "tests/fixtures/jax/mlp.trace.json.zst"},
        {"proton", "tests/fixtures/proton/matmul.hatchet"},
        {"pprof", "tests/fixtures/jax/memory.prof"},
        {"series", "seeds/series/bursty.csv"},
        {"rocpd", "seeds/rocpd/rocpd.db"},
        {"rocpd", "seeds/rocpd/old.rpd"},
        {"rocpd", "seeds/rocpd/compute.db"},
        {"rocprof_json", "seeds/rocprof_json/whole.json"},
        {"wprof", "seeds/wprof/whole.jsonl"},
        {"proton", "seeds/proton/tree.hatchet_msgpack"},
        {"proton_scopes", "seeds/proton/scopes.chrome_trace"},
        {"perfetto", "seeds/perfetto/cuspy.pftrace"},
        {"perfetto", "seeds/perfetto/rocprofv3.pftrace"},
    };
    for (auto [own, file] : kFiles) {
        bool seed = file.starts_with("seeds/");
        std::string path =
            seed ? seed_folder() + std::string(file.substr(5)) : source_folder() + "/" + std::string(file);
        Result<std::unique_ptr<Source>> source = open_source(path);
        ASSERT_TRUE(source.ok()) << file;
        expect_own(own, (*source)->head(), file);
    }
    expect_own("torch_rows", "[[1000, 1010], [[0, 1024, 0, 0, 0, 0, 0, 0, 0], [0, 1024, 0, 0, 0, 0, 0, 0, 5]]]",
               "sums");
    expect_own("torch_timeline", "[[1000, 1, 1024, 0], [1010, 2, 512, 3]]", "events");
}

// What no importer takes is named.
TEST(Sniffers, FilesOfOtherToolsAreLeftAlone) {
    for (std::string_view head :
         {"{\"schema\": \"1.0.1\", \"nodes\": [{\"rf_id\": 0}]}", "PAR1\x15\x04", "ARROW1", "\x93\x01\x02\x03"})
        for (const Importer& importer : all_importers()) EXPECT_EQ(importer.sniff(head), 0) << importer.name << head;
}

}  // namespace
}  // namespace gpuprof::test
