// Reads gpu-profile's capture files (docs/reference/capture-format.md). Reads whole chunks and counts everything
// between them; core/format/chunk_reader.h describes the effect of damage. Decodes on several threads; the result does
// not depend on their number.
#include "io/importers/formats.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <memory>

#include "core/base/parallel.h"
#include "core/schema/recording_facts.h"
#include "io/importers/capture_tables.h"
#include "io/importers/source/memory_limit.h"
#include "io/importers/spool/spool_import.h"

namespace gpuprof::inline importers {
namespace {

// Chunks are read and decoded in groups of about this many stored bytes; one group is read while another is decoded.
constexpr std::size_t kGroupBytes = std::size_t{8} << 20;
constexpr std::size_t kGroupChunks = 512;

class SourceInput final : public ByteInput {
public:
    explicit SourceInput(Source& source) : source_(source) {}
    Result<std::size_t> read(char* into, std::size_t size) override { return source_.read(into, size); }

private:
    Source& source_;
};

// Number of rows of each table by the chunks' preambles, without reading the chunks, up to the first invalid place. The
// count never exceeds the file's size in bytes: recordings need several bytes per row, and a hostile file's claims must
// cost nothing.
std::map<std::string, std::size_t, std::less<>> expected_rows(int fd, std::uint64_t size) {
    std::map<std::string, std::size_t, std::less<>> rows;
    char bytes[kChunkHeaderBytes + 128];
    for (std::uint64_t at = 0; at < size;) {
        ssize_t got = ::pread(fd, bytes, sizeof bytes, static_cast<off_t>(at));
        std::string_view head(bytes, got > 0 ? static_cast<std::size_t>(got) : 0);
        std::optional<ChunkHeader> header = decode_header(head);
        if (!header) break;
        std::string_view payload = head.substr(kChunkHeaderBytes, header->length);
        ChunkPreamble preamble;
        if (header->is(ChunkKind::table) && read_preamble(payload, header->length, preamble)) {
            std::size_t& known = rows[std::string(preamble.table)];
            known = std::min<std::uint64_t>(known + preamble.rows, size);
        }
        at += kChunkHeaderBytes + header->length;
    }
    return rows;
}

// A killed process leaves whole chunks without an end chunk; its file was not truncated.
Loss loss_of(const ChunkReader::Gap& gap) {
    switch (gap.kind) {
        case ChunkReader::Gap::damaged: return Loss::damaged_chunk;
        case ChunkReader::Gap::cut: return Loss::truncated;
        case ChunkReader::Gap::unended: break;
    }
    return SpoolDecoder::takes(gap.after) ? Loss::killed_process : Loss::truncated;
}

struct Group {
    std::deque<RawChunk> chunks;  // a deque, because placed chunks point into it
    Status status;
};

class CaptureImport {
public:
    CaptureImport(Source& source, TraceBuilder& builder, CodeFiles code)
        : source_(source),
          builder_(builder),
          input_(source),
          reader_(input_),
          tables_(batch_, source.name()),
          code_(code) {
        skip_unselected(batch_.tables, builder.selected());
    }

    Status run() {
        for (unsigned worker = 0; worker < default_threads(); ++worker)
            scratch_.push_back(std::make_unique<FillScratch>());
        if (source_.plain_fd() >= 0) tables_.expect(expected_rows(source_.plain_fd(), source_.plain_size()));
        Group group;
        read(group);
        while (!group.chunks.empty()) {
            Group next;
            if (Status fits = decode(group, next); !fits) return fits;
            group = std::move(next);
        }
        if (!group.status) return group.status;
        if (reader_.offset() == 0) batch_.lose(Loss::killed_process, fmt::format("{}: empty", source_.name()));
        finish();
        return {};
    }

private:
    void read(Group& group) {
        std::size_t bytes = 0;
        while (bytes < kGroupBytes && group.chunks.size() < kGroupChunks) {
            RawChunk chunk;
            Result<bool> more = reader_.next(chunk);
            if (!more) group.status = more.error();
            if (!more || !*more) return;
            bytes += chunk.payload.size();
            group.chunks.push_back(std::move(chunk));
        }
    }

    // Decodes `group` while reading `next`.
    Status decode(const Group& group, Group& next) {
        std::vector<PlacedChunk> placed;
        MemoryLimit limit(source_);
        for (const RawChunk& raw : group.chunks) {
            place(raw, placed);
            if (limit.is_below(bytes_of(batch_))) return limit.error();
        }
        std::vector<char> sound(placed.size(), 1);
        run_parallel(placed.size() + 1, static_cast<unsigned>(scratch_.size()), [&](std::size_t task, unsigned worker) {
            if (task == 0)
                read(next);
            else
                sound[task - 1] = CaptureTables::fill(placed[task - 1], *scratch_[worker]);
        });
        for (std::size_t i = 0; i < placed.size(); ++i)
            if (!sound[i]) tables_.fail(placed[i]);
        return {};
    }

    void place(const RawChunk& raw, std::vector<PlacedChunk>& placed) {
        if (raw.header.is(ChunkKind::begin) || raw.header.is(ChunkKind::end)) return;
        if (SpoolDecoder::takes(raw.header)) {
            bool begins = raw.header.is(ChunkKind::spool_process);
            if (begins && !(spool_ && spool_->is_continued_by(raw.bytes()))) end_spool();
            if (!spool_) spool_ = std::make_unique<SpoolDecoder>(batch_, source_.name(), code_);
            spool_->take(raw);
            return;
        }
        if (!raw.header.is(ChunkKind::table)) {
            batch_.lose(Loss::unknown_chunk,
                        fmt::format("{}: byte {}: kind {}", source_.name(), raw.offset, raw.header.kind));
            return;
        }
        end_spool();  // its rows end here: those of the table are filled later
        if (std::optional<PlacedChunk> chunk = tables_.place(raw)) placed.push_back(std::move(*chunk));
    }

    void end_spool() {
        if (spool_) spool_->finish();
        spool_.reset();
    }

    void finish() {
        end_spool();
        for (const ChunkReader::Gap& gap : reader_.gaps())
            batch_.lose(loss_of(gap), fmt::format("{}: byte {}", source_.name(), gap.offset), gap.chunks);
        if (source_.damaged()) batch_.lose(Loss::bad_compression, source_.name());
        tables_.drop_failed();
        batch_.tables.close();
        const MetaTable& meta = batch_.tables.meta;
        for (Row row = 0; row < meta.rows; ++row)
            if (meta.key.has(row) && meta.value.has(row) && batch_.strings[meta.key[row]] == fact::kTool) {
                builder_.set_tool(std::string(batch_.strings[meta.value[row]]));
                break;
            }
        builder_.append(std::move(batch_));
    }

    Source& source_;
    TraceBuilder& builder_;
    SourceInput input_;
    ChunkReader reader_;
    Batch batch_;
    CaptureTables tables_;
    CodeFiles code_;
    std::vector<std::unique_ptr<FillScratch>> scratch_;
    std::unique_ptr<SpoolDecoder> spool_;  // of the process whose raw chunks are being read
};

}  // namespace

int sniff_capture(std::string_view head) {
    if (head.substr(0, kChunkMagic.size()) == kChunkMagic) return 100;
    // The first header may be the damaged one.
    for (std::size_t at = head.find(kChunkMagic); at != std::string_view::npos; at = head.find(kChunkMagic, at + 1))
        if (decode_header(head.substr(at))) return 90;
    return 0;
}

Status import_capture(Source& source, TraceBuilder& builder) {
    return CaptureImport(source, builder, CodeFiles::closed).run();
}
Status import_own_capture(Source& source, TraceBuilder& builder) {
    return CaptureImport(source, builder, CodeFiles::open).run();
}

}  // namespace gpuprof::importers
