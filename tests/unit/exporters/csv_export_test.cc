// The CSV exporter: what an absent value, an empty text and text with separators look like.
#include "core/model/build/trace_builder.h"
#include "io/exporters/exporter.h"

#include <gtest/gtest.h>

namespace gpuprof::test {
namespace {

TEST(CsvExport, TellsAbsentFromEmptyAndQuotes) {
    Batch batch;
    ProcessTable& process = batch.tables.process;
    Row first = process.add(), second = process.add();
    process.key.set(first, batch.intern("1"));
    process.key.set(second, batch.intern("2"));
    process.pid.set(first, 4711);
    process.name.set(first, batch.intern("a \"quoted\", name"));
    process.name.set(second, batch.intern(""));
    TraceBuilder builder(Origin{});
    builder.append(std::move(batch));
    StringSink sink;
    ASSERT_TRUE(export_csv(std::move(builder).finish(), sink).ok());
    EXPECT_EQ(sink.text(), "# process\nkey,pid,name\n1,4711,\"a \"\"quoted\"\", name\"\n2,,\"\"\n\n");
}

}  // namespace
}  // namespace gpuprof::test
