#include "present/query/arrow.h"

#include <cerrno>
#include <cstring>
#include <limits>
#include <new>

#include "core/base/text/utf8.h"

namespace gpuprof::inline query {
namespace {

// ---- Schemas: each is released once, by its holder; a parent releases its remaining children.

struct SchemaNode {
    std::string format, name, metadata;
    std::vector<ArrowSchema> children;
    std::vector<ArrowSchema*> places;
    ArrowSchema dictionary{};
};

template <class Node, class Struct>
void release(Struct* given) {
    auto* node = static_cast<Node*>(given->private_data);
    for (Struct& child : node->children)
        if (child.release != nullptr) child.release(&child);
    if (node->dictionary.release != nullptr) node->dictionary.release(&node->dictionary);
    given->release = nullptr;
    delete node;
}

void append_metadata(std::string& out, std::string_view text) {
    auto length = static_cast<std::int32_t>(text.size());
    out.append(reinterpret_cast<const char*>(&length), sizeof length);
    out += text;
}

std::string metadata_of(const FrameColumn& column) {
    std::string out;
    std::int32_t pairs = column.unit == Unit::none ? 1 : 2;
    out.append(reinterpret_cast<const char*>(&pairs), sizeof pairs);
    append_metadata(out, "doc"), append_metadata(out, column.doc);
    if (pairs == 2) append_metadata(out, "unit"), append_metadata(out, name_of(column.unit));
    return out;
}

void fill_schema(ArrowSchema& out, std::unique_ptr<SchemaNode> node) {
    out = {};
    for (ArrowSchema& child : node->children) node->places.push_back(&child);
    out.format = node->format.c_str(), out.name = node->name.c_str();
    out.metadata = node->metadata.empty() ? nullptr : node->metadata.data();
    out.flags = ARROW_FLAG_NULLABLE;
    out.n_children = static_cast<std::int64_t>(node->children.size());
    out.children = node->places.data();
    out.dictionary = node->dictionary.release == nullptr ? nullptr : &node->dictionary;
    out.release = release<SchemaNode, ArrowSchema>;
    out.private_data = node.release();
}

const char* format_of(FrameType type) {
    switch (type) {
        case FrameType::i32:
        case FrameType::text: return "i";
        case FrameType::f64: return "g";
        case FrameType::boolean: return "b";
        case FrameType::i64:
        case FrameType::end: return "l";
    }
    return "l";
}

void column_schema(const FrameColumn& column, ArrowSchema& out) {
    auto node = std::make_unique<SchemaNode>();
    node->format = format_of(column.type), node->name = valid_utf8(column.name), node->metadata = metadata_of(column);
    if (column.type == FrameType::text) {
        auto texts = std::make_unique<SchemaNode>();
        texts->format = "u";
        fill_schema(node->dictionary, std::move(texts));
    }
    fill_schema(out, std::move(node));
}

void frame_schema(const Frame& frame, ArrowSchema& out) {
    auto node = std::make_unique<SchemaNode>();
    node->format = "+s";
    node->children.resize(frame.columns.size());
    for (std::size_t i = 0; i < frame.columns.size(); ++i) column_schema(frame.columns[i], node->children[i]);
    fill_schema(out, std::move(node));
    out.flags = 0;  // rows of the batch are never null
}

// ---- Arrays.

struct ArrayNode {
    std::shared_ptr<const void> owner;  // of the memory behind the buffers
    const void* buffers[3] = {};
    std::vector<std::uint64_t> made[2];  // buffers that had to be computed
    std::vector<ArrowArray> children;
    std::vector<ArrowArray*> places;
    ArrowArray dictionary{};
};

void fill_array(ArrowArray& out, std::size_t rows, std::int64_t buffers, std::unique_ptr<ArrayNode> node) {
    out = {};
    for (ArrowArray& child : node->children) node->places.push_back(&child);
    out.length = static_cast<std::int64_t>(rows);
    out.null_count = node->buffers[0] == nullptr ? 0 : -1;  // -1: not counted
    out.n_buffers = buffers, out.buffers = node->buffers;
    out.n_children = static_cast<std::int64_t>(node->children.size()), out.children = node->places.data();
    out.dictionary = node->dictionary.release == nullptr ? nullptr : &node->dictionary;
    out.release = release<ArrayNode, ArrowArray>;
    out.private_data = node.release();
}

void texts_array(std::shared_ptr<const Texts> texts, ArrowArray& out) {
    auto node = std::make_unique<ArrayNode>();
    node->buffers[1] = texts->offsets.data(), node->buffers[2] = texts->bytes.data();
    std::size_t count = texts->offsets.size() - 1;
    node->owner = std::move(texts);
    fill_array(out, count, 3, std::move(node));
}

// The values of a column that is not stored in Arrow's layout.
std::vector<std::uint64_t> computed(const FrameColumn& column, std::size_t rows) {
    std::vector<std::uint64_t> out(column.type == FrameType::boolean ? (rows + 63) / 64 : rows, 0);
    auto* narrow = reinterpret_cast<std::uint32_t*>(out.data());
    for (Row row = 0; row < rows; ++row) {
        if (!column.has(row)) continue;
        if (column.type == FrameType::text) {
            narrow[row] = index_of(column.text(row));
            continue;
        }
        auto value = static_cast<std::uint64_t>(column.integer(row));
        if (column.type == FrameType::boolean)
            out[row / 64] |= value << (row % 64);
        else if (column.type == FrameType::i32)
            narrow[row] = static_cast<std::uint32_t>(value);
        else
            out[row] = value;
    }
    return out;
}

void column_array(const FrameColumn& column, std::size_t rows, const std::shared_ptr<const Texts>& texts,
                  const std::shared_ptr<const void>& owner, ArrowArray& out) {
    auto node = std::make_unique<ArrayNode>();
    node->owner = owner;
    node->buffers[0] = column.validity, node->buffers[1] = column.values;
    if (column.values == nullptr) {
        node->made[0].assign((rows + 63) / 64 + 1, 0), node->made[1].assign(rows + 1, 0);
        node->buffers[0] = node->made[0].data(), node->buffers[1] = node->made[1].data();
    } else if (column.type == FrameType::end || column.type == FrameType::boolean || column.width != 0) {
        node->made[1] = computed(column, rows);
        node->buffers[1] = node->made[1].data();
    }
    if (column.type == FrameType::text) texts_array(texts, node->dictionary);
    fill_array(out, rows, 2, std::move(node));
}

// ---- The stream.

struct Stream {
    Frame frame;
    std::shared_ptr<const Texts> texts;
    std::shared_ptr<const void> owner;
    bool given = false;
};

template <class Step>
int guarded_stream(Step&& step) noexcept {
    try {
        step();
        return 0;
    } catch (const std::bad_alloc&) {
        return ENOMEM;
    } catch (...) {
        return EINVAL;
    }
}

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
    return guarded_stream([&] { frame_schema(static_cast<Stream*>(stream->private_data)->frame, *out); });
}

int get_next(ArrowArrayStream* stream, ArrowArray* out) {
    return guarded_stream([&] {
        auto& state = *static_cast<Stream*>(stream->private_data);
        *out = {};
        if (state.given) return;  // an array without release marks the end
        const Frame& frame = state.frame;
        auto node = std::make_unique<ArrayNode>();
        node->children.resize(frame.columns.size());
        for (std::size_t i = 0; i < frame.columns.size(); ++i)
            column_array(frame.columns[i], frame.rows, state.texts, state.owner, node->children[i]);
        fill_array(*out, frame.rows, 1, std::move(node));
        state.given = true;
    });
}

}  // namespace

Result<std::shared_ptr<const Texts>> texts_of(const StringPool& pool) {
    auto texts = std::make_shared<Texts>();
    texts->offsets.reserve(pool.size() + 1);
    texts->offsets.push_back(0);
    for (std::uint32_t id = 0; id < pool.size(); ++id) {
        texts->bytes += valid_utf8(pool[StringId{id}]);
        if (texts->bytes.size() > std::numeric_limits<std::int32_t>::max())
            return Error{
                ExitCode::internal,
                "cannot export to Arrow: the texts of the recording exceed 2 GiB, the limit of Arrow's utf8 type"};
        texts->offsets.push_back(static_cast<std::int32_t>(texts->bytes.size()));
    }
    return std::shared_ptr<const Texts>(std::move(texts));
}

void export_stream(const Frame& frame, std::shared_ptr<const Texts> texts, std::shared_ptr<const void> owner,
                   ArrowArrayStream* out) {
    *out = {};
    out->private_data = new Stream{frame, std::move(texts), std::move(owner)};
    out->get_schema = get_schema, out->get_next = get_next;
    out->get_last_error = [](ArrowArrayStream*) -> const char* { return "out of memory"; };
    out->release = [](ArrowArrayStream* stream) {
        delete static_cast<Stream*>(stream->private_data);
        stream->release = nullptr;
    };
}

}  // namespace gpuprof::query
