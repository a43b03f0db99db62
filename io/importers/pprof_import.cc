// Importer for pprof profiles (profile.proto): stacks with values, as a call tree. JAX writes its device memory this
// way (jax.profiler.save_device_memory_profile). A node is a function with its file and line; the values of a stack
// belong to its innermost node. Labels other than the device are dropped.
// Format: proto/profile.proto of github.com/google/pprof.
#include "io/importers/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "io/importers/row_values.h"
#include "io/importers/source/memory_limit.h"
#include "io/importers/source/protobuf.h"
#include "io/importers/source/read_all.h"

namespace gpuprof::inline importers {
namespace {

constexpr std::size_t kMaxProfileBytes = std::size_t{1} << 30;
constexpr std::size_t kMaxDepth = 10'000;  // frames of a stack

// Field numbers of profile.proto.
enum Profile : std::uint32_t { kSampleType = 1, kSample = 2, kLocation = 4, kFunction = 5, kText = 6, kTime = 9 };
enum ValueType : std::uint32_t { kType = 1, kUnit = 2 };
enum Sample : std::uint32_t { kLocations = 1, kValues = 2, kLabel = 3 };
enum Label : std::uint32_t { kLabelKey = 1, kLabelText = 2 };
enum Location : std::uint32_t { kLocationId = 1, kAddress = 3, kLine = 4 };
enum CodeLine : std::uint32_t { kLineFunction = 1, kLineNumber = 2 };
enum Function : std::uint32_t { kFunctionId = 1, kFunctionName = 2, kFileName = 4 };

// "cuda:0" and the like.
std::optional<std::int32_t> device_number(std::string_view text) {
    std::size_t colon = text.rfind(':');
    auto number = number_in<std::int32_t>(colon == text.npos ? std::string_view() : text.substr(colon + 1));
    return number && *number >= 0 && *number < 4096 ? number : std::nullopt;
}

class ProfileReader {
public:
    ProfileReader(Batch& batch, const Source& source) : batch_(batch), limit_(source) {}

    // Samples precede the texts that they use, so the profile is read twice. False if it exceeds the memory limit.
    bool read(std::string_view profile) {
        constexpr std::size_t kBytesPerEntry = 64, kBytesPerSum = 96, kBytesPerWalk = 80;
        ProtobufFields names(profile);
        std::size_t fields = 0;
        while (names.next() && !limit_.is_below(profile.size() + ++fields * kBytesPerEntry)) switch (names.number()) {
                case kText: texts_.push_back(names.bytes()); break;
                case kSampleType: types_.push_back(pair_of(names.bytes(), kType, kUnit)); break;
                case kLocation: locations_[id_of(names.bytes(), kLocationId)] = names.bytes(); break;
                case kFunction: functions_[id_of(names.bytes(), kFunctionId)] = names.bytes(); break;
                default: break;
            }
        if (limit_.is_below(profile.size() + fields * kBytesPerEntry)) return false;
        if (names.damaged()) batch_.lose(Loss::truncated, "Profile");
        ProtobufFields samples(profile);
        while (samples.next()) {
            if (samples.number() == kSample) sample(samples.bytes());
            if (limit_.is_below(batch_, profile.size() + fields * kBytesPerEntry + sums_.size() * kBytesPerSum +
                                            walked_.size() * kBytesPerWalk))
                return false;
        }
        write_metrics();
        return true;
    }
    bool any_type() const { return !types_.empty(); }

private:
    struct Pair {
        std::uint64_t first = 0, second = 0;
    };
    static Pair pair_of(std::string_view message, std::uint32_t first, std::uint32_t second) {
        Pair pair;
        ProtobufFields fields(message);
        while (fields.next()) {
            if (fields.number() == first) pair.first = fields.value();
            if (fields.number() == second) pair.second = fields.value();
        }
        return pair;
    }
    static std::uint64_t id_of(std::string_view message, std::uint32_t field) {
        return pair_of(message, field, 0).first;
    }

    std::string_view text(std::uint64_t index) const {
        return index < texts_.size() ? texts_[index] : std::string_view();
    }

    // The frames of a location, innermost first: inlined functions are lines of the function that contains them. Read once: a few bytes of
    // a sample refer to a location that may have thousands of lines.
    const std::vector<StringId>& frames_of(std::uint64_t id) {
        auto place = locations_.find(id);
        if (place == locations_.end()) {
            if (no_location_.empty()) no_location_.push_back(batch_.intern("unknown"));
            return no_location_;
        }
        std::vector<StringId>& frames = frames_[id];
        if (!frames.empty()) return frames;
        std::uint64_t address = 0;
        ProtobufFields fields(place->second);
        while (frames.size() < kMaxDepth && fields.next()) {
            if (fields.number() == kAddress) address = fields.value();
            if (fields.number() == kLine) frames.push_back(frame(fields.bytes()));
        }
        if (frames.empty()) frames.push_back(batch_.intern(address == 0 ? "unknown" : fmt::format("0x{:x}", address)));
        return frames;
    }

    StringId frame(std::string_view line) {
        auto [id, number] = pair_of(line, kLineFunction, kLineNumber);
        auto known = functions_.find(id);
        if (known == functions_.end()) return batch_.intern("unknown");
        auto [name, file] = pair_of(known->second, kFunctionName, kFileName);
        if (text(file).empty()) return batch_.intern(text(name));
        return batch_.intern(number == 0 ? fmt::format("{} ({})", text(name), text(file))
                                         : fmt::format("{} ({}:{})", text(name), text(file), number));
    }

    // Of a stack, one location and how many of its frames belong to it: all, but for the outermost of a stack that is too deep.
    struct Part {
        std::uint64_t location;
        std::size_t frames;
    };

    void sample(std::string_view message) {
        std::vector<Part> stack;  // innermost first
        std::size_t depth = 0;
        std::vector<std::int64_t> values;
        std::optional<std::int32_t> device;
        ProtobufFields fields(message);
        while (fields.next()) {
            if (fields.number() == kLocations)
                fields.each_integer([&](std::uint64_t id) {
                    if (depth >= kMaxDepth) return;
                    std::size_t frames = std::min(frames_of(id).size(), kMaxDepth - depth);
                    stack.push_back({id, frames});
                    depth += frames;
                });
            if (fields.number() == kValues)
                fields.each_integer([&](std::uint64_t value) { values.push_back(static_cast<std::int64_t>(value)); });
            if (fields.number() == kLabel) {
                auto [key, value] = pair_of(fields.bytes(), kLabelKey, kLabelText);
                if (text(key) == "device") device = device_number(text(value));
            }
        }
        if (fields.damaged() || stack.empty() || values.size() != types_.size())
            return batch_.lose(Loss::malformed_event, "Sample");
        if (depth >= kMaxDepth) batch_.lose(Loss::too_deep, "Sample");
        std::int64_t at = kNone;
        for (auto part = stack.rbegin(); part != stack.rend(); ++part)
            at = below(at, *part, std::next(part) == stack.rend() ? device : std::nullopt);
        std::vector<double>& sums = sums_[static_cast<std::size_t>(at)];
        sums.resize(types_.size());
        for (std::size_t i = 0; i < values.size(); ++i) sums[i] += static_cast<double>(values[i]);
    }

    // The node of a part's innermost frame; the device belongs to that one. Walked once for each place in the tree.
    std::int64_t below(std::int64_t parent, Part part, std::optional<std::int32_t> device) {
        auto [known, added] = walked_.try_emplace({parent, part.location, part.frames, device.value_or(-1)}, kNone);
        if (!added) return known->second;
        const std::vector<StringId>& frames = frames_of(part.location);
        for (std::size_t i = part.frames; i-- > 0;) parent = child(parent, frames[i], i == 0 ? device : std::nullopt);
        return known->second = parent;
    }

    std::int64_t child(std::int64_t parent, StringId name, std::optional<std::int32_t> device) {
        CallNodeTable& table = batch_.tables.call_node;
        auto [known, added] = nodes_.try_emplace({parent, name, device.value_or(-1)}, std::ssize(sums_));
        if (!added) return known->second;
        sums_.emplace_back();
        Row row = table.add();
        table.node.set(row, known->second);
        if (parent != kNone) table.parent.set(row, parent);
        table.name.set(row, name);
        set_known(table.device, row, device);
        return known->second;
    }

    void write_metrics() {
        for (std::size_t node = 0; node < sums_.size(); ++node)
            for (std::size_t i = 0; i < sums_[node].size(); ++i)
                add_call_metric(batch_, static_cast<std::int64_t>(node), text(types_[i].first), text(types_[i].second),
                                sums_[node][i]);
    }

    static constexpr std::int64_t kNone = -1;
    Batch& batch_;
    MemoryLimit limit_;
    std::vector<std::string_view> texts_;
    std::vector<Pair> types_;
    std::unordered_map<std::uint64_t, std::string_view> locations_, functions_;
    std::unordered_map<std::uint64_t, std::vector<StringId>> frames_;  // by location
    std::vector<StringId> no_location_;                                // of an unknown one
    std::map<std::tuple<std::int64_t, StringId, std::int32_t>, std::int64_t> nodes_;
    std::map<std::tuple<std::int64_t, std::uint64_t, std::size_t, std::int32_t>, std::int64_t> walked_;
    std::vector<std::vector<double>> sums_;  // by node and type; empty if no stack ends there
};

}  // namespace

// Starts with a value type: two string indexes and nothing else.
int sniff_pprof(std::string_view head) {
    ProtobufFields profile(head);
    if (!profile.next() || profile.number() != kSampleType || profile.bytes().empty()) return 0;
    ProtobufFields type(profile.bytes());
    while (type.next())
        if ((type.number() != kType && type.number() != kUnit) || type.is_bytes() || type.value() > 1'000'000) return 0;
    return type.damaged() ? 0 : 60;
}

Status import_pprof(Source& source, TraceBuilder& builder) {
    Result<std::string> bytes = read_all(source, kMaxProfileBytes);
    if (!bytes.ok()) return bytes.error();
    Batch batch;
    ProfileReader reader(batch, source);
    if (!reader.read(*bytes)) return MemoryLimit(source).error();
    if (!reader.any_type())
        return Error{ExitCode::unreadable,
                     fmt::format("cannot read {}: not a pprof profile: it has no values", source.name())};
    if (source.damaged()) batch.lose(Loss::bad_compression, source.name());
    builder.set_tool("pprof");
    builder.append(std::move(batch));
    return {};
}

}  // namespace gpuprof::importers
