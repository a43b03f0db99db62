#include "io/importers/nsys/nvtx_payload.h"

#include <utility>

namespace gpuprof::inline importers::nsys {
namespace {

constexpr std::size_t kHeader = 32, kSchemaAt = 8, kSizeAt = 16;

struct Integer {
    std::size_t size;  // 0: not an integer
    bool is_signed;
};

Integer integer_of(std::int64_t type) {
    constexpr Integer kTypes[] = {{0, false}, {1, true},  {1, false}, {2, true},  {2, false}, {4, true},  {4, false},
                                  {8, true},  {8, false}, {8, true},  {8, false}, {1, true},  {1, false}, {2, true},
                                  {2, false}, {4, true},  {4, false}, {8, true},  {8, false}};
    constexpr std::int64_t kSize = 22;  // size_t
    if (type == kSize) return {8, false};
    return type > 0 && type < std::ssize(kTypes) ? kTypes[type] : Integer{0, false};
}

std::uint64_t read_unsigned(std::string_view bytes, std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
    return value;
}

}  // namespace

void NvtxPayloads::add_field(std::int64_t domain, std::int64_t schema, std::int64_t type, std::int64_t offset,
                             std::string_view name) {
    Integer integer = integer_of(type);
    if (integer.size == 0 || offset < 0 || name.empty()) return;
    Field field{static_cast<std::uint64_t>(offset), integer.size, integer.is_signed};
    auto [known, added] = schemas_[{domain, schema}].fields.try_emplace(std::string(name), field);
    if (!added && known->second != field) known->second.reset();
}

NvtxPayloads::Values NvtxPayloads::decode(std::int64_t domain, std::string_view bytes) const {
    if (bytes.size() < kHeader) return {};
    auto schema = schemas_.find({domain, static_cast<std::int64_t>(read_unsigned(bytes, kSchemaAt, 4))});
    std::uint64_t size = read_unsigned(bytes, kSizeAt, 8);
    if (schema == schemas_.end() || size > bytes.size() - kHeader) return {};
    Values values;
    for (const auto& [name, field] : schema->second.fields) {
        if (!field || field->offset > size || field->size > size - field->offset) continue;
        std::uint64_t raw = read_unsigned(bytes, kHeader + static_cast<std::size_t>(field->offset), field->size);
        unsigned unused = static_cast<unsigned>(64 - 8 * field->size);
        auto value = static_cast<std::int64_t>(raw << unused);
        values.emplace(name, field->is_signed ? value >> unused : static_cast<std::int64_t>(raw));
    }
    return values;
}

}  // namespace gpuprof::importers::nsys
