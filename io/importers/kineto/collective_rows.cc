// RowWriter's collectives. PyTorch writes a record of each on the host (`record_param_comms`), and Kineto copies some of
// its arguments to the kernel that it launched. Lists of ranks are cut to 30 entries; those that the record itself can
// complete are completed here, the others once the whole file is known (groups.h). Gloo has no such record: its
// collectives are ranges, and their group is not recorded.
// Arguments: torch/csrc/profiler/util.cpp of pytorch/pytorch.
#include "core/base/text/ascii.h"
#include "core/base/text/rank_list.h"
#include "io/importers/kineto/row_writer.h"

namespace gpuprof::inline importers::kineto {
namespace {

// `Rank` is the root's number in the group for these, and the own one or that of the peer for all others.
enum class Root { none, sends, receives };
Root root_of(std::string_view collective) {
    for (std::string_view name : {"broadcast", "_broadcast_oop", "scatter"})
        if (collective == name) return Root::sends;
    for (std::string_view name : {"reduce", "_reduce_oop", "gather"})
        if (collective == name) return Root::receives;
    return Root::none;
}

// What Gloo's ranges on its worker threads are called: "gloo:all_reduce". They span the execution, and nothing else
// records it.
constexpr std::string_view kGloo = "gloo:";

// Names of C++ types that PyTorch gives its operators' inputs, and those it gives its collectives.
std::string_view scalar_type(std::string_view type) {
    struct Name {
        std::string_view cpp, scalar;
    };
    constexpr Name kNames[] = {
        {"float", "Float"},        {"double", "Double"}, {"c10::Half", "Half"},  {"c10::BFloat16", "BFloat16"},
        {"long int", "Long"},      {"int", "Int"},       {"short int", "Short"}, {"signed char", "Char"},
        {"unsigned char", "Byte"}, {"bool", "Bool"}};
    for (const Name& name : kNames)
        if (name.cpp == type) return name.scalar;
    return type;
}

// The first text of a list such as ["float", ""]; "" if there is none.
std::string_view first_text(std::string_view list) {
    std::size_t open = list.find('"');
    std::size_t close = open == std::string_view::npos ? open : list.find('"', open + 1);
    return close == std::string_view::npos ? std::string_view() : list.substr(open + 1, close - open - 1);
}

// The number of elements of tensors with these shapes: 1027 for [[1024], [3]]. Nothing if the list has any other form.
std::optional<std::int64_t> elements_of(std::string_view shapes) {
    constexpr std::int64_t kMost = std::int64_t{1} << 48;  // of one tensor, and of all
    if (!shapes.starts_with("[[")) return std::nullopt;
    std::int64_t all = 0, product = 1, number = 0;
    bool digits = false, any = false;
    for (char c : shapes.substr(1)) {
        if (is_digit(c)) {
            number = number * 10 + (c - '0');
            digits = true;
        } else if (c == '[') {
            product = 1;
            any = false;
        } else if (c == ',' || c == ']') {
            bool fits = number == 0 || product <= kMost / number;
            if (digits) product = fits ? product * number : kMost;
            any |= digits;
            digits = false;
            number = 0;
            if (c == ']' && any) {
                all += product;
                any = false;
            }
        } else if (c != ' ' && c != '\n' && c != '\t' && c != '\r') {
            return std::nullopt;
        }
        if (number > kMost || product >= kMost || all > kMost) return std::nullopt;
    }
    return all;
}

constexpr std::string_view kBrokenList = "[";

bool is_empty_list(std::string_view text) { return text.empty() || text == "[]"; }

}  // namespace

void RowWriter::write_collective(const Event& event, bool on_device) {
    Batch& rows = block_.late;
    CollectiveTable& collective = rows.tables.collective;
    Row row = collective.add();
    if (on_device) {
        put(collective.correlation, row, event, Field::correlation);
    } else {
        collective.process.set(row, rows.intern(block_.rows.strings[host_thread(event).process]));
    }
    put(collective.external_id, row, event, Field::external_id);
    put_text(collective.name, row, event, Field::collective, rows);
    put_text(collective.type, row, event, Field::element_type, rows);
    put(collective.in_elements, row, event, Field::in_elements);
    put(collective.out_elements, row, event, Field::out_elements);
    put(collective.group_size, row, event, Field::group_size);
    put_text(collective.group, row, event, Field::group, rows);
    put_text(collective.group_description, row, event, Field::group_description, rows);
    put(collective.seq, row, event, Field::collective_seq);
    if (!collective.instance.is_skipped())
        if (auto id = integer(event, Field::collective_instance, true)) collective.instance.set(row, *id);
    put(collective.src_rank, row, event, Field::src_rank);
    put(collective.dst_rank, row, event, Field::dst_rank);
    put_splits(collective.in_splits, row, event, Field::in_splits);
    put_splits(collective.out_splits, row, event, Field::out_splits);
    if (event.has(Field::is_async)) put_flag(collective.is_async, row, event, Field::is_async);
    put_ranks(collective, row, event);
}

void RowWriter::write_gloo_collective(const Event& event) {
    std::string_view name = event.text(Field::name);
    if (!name.starts_with(kGloo)) return;
    Batch& rows = block_.late;
    CollectiveTable& collective = rows.tables.collective;
    Row row = collective.add();
    collective.process.set(row, rows.intern(block_.rows.strings[host_thread(event).process]));
    put(collective.external_id, row, event, Field::external_id);
    collective.name.set(row, rows.intern(name.substr(kGloo.size())));
    if (std::string_view type = first_text(event.text(Field::input_types)); !type.empty())
        collective.type.set(row, rows.intern(scalar_type(type)));
    if (auto elements = elements_of(event.text(Field::input_dims))) collective.in_elements.set(row, *elements);
}

void RowWriter::put_splits(Column<StringId>& column, Row row, const Event& event, Field field) {
    if (!is_empty_list(event.text(field))) put_text(column, row, event, field, block_.late);
}

void RowWriter::put_flag(Column<std::int32_t>& column, Row row, const Event& event, Field field) {
    std::string_view text = event.text(field);
    if (text == "true" || text == "false") return column.set(row, text == "true" ? 1 : 0);
    if (auto value = integer(event, field)) column.set(row, *value != 0 ? 1 : 0);
}

// The text of `ranks` becomes compact (rank_list.h) if the event says enough; otherwise it stays the list as recorded,
// and groups.h completes or removes it.
void RowWriter::put_ranks(CollectiveTable& collective, Row row, const Event& event) {
    std::string text(event.has(Field::group_ranks) ? decoded(event, Field::group_ranks) : std::string_view());
    bool cut = text.find("...") != std::string::npos;
    std::optional<EvenRanks> even = evenly_spaced(event);
    std::optional<RecordedRanks> listed = parse_recorded_ranks(text);
    // Versions that list no ranks write the true spacing; those that list them do so for spacing by default, too.
    if (event.has(Field::group_ranks) && !(cut && even && listed && listed->cut_from(*even))) even.reset();
    if (is_empty_list(text) && !even) return;
    if (even)
        text = format_ranks(*even);
    else if (!text.starts_with('['))
        text = kBrokenList;  // must not look compact
    collective.ranks.set(row, block_.late.intern(text));
    put_root(collective, row, event, listed, even);
}

std::optional<EvenRanks> RowWriter::evenly_spaced(const Event& event) {
    std::optional<std::int64_t> start = integer(event, Field::first_rank), stride = integer(event, Field::rank_stride),
                                size = integer(event, Field::group_size);
    if (!start || !stride || !size) return std::nullopt;
    return EvenRanks::of(*start, *stride, *size);
}

// Numbers in the group become global ranks.
void RowWriter::put_root(CollectiveTable& collective, Row row, const Event& event,
                         const std::optional<RecordedRanks>& listed, const std::optional<EvenRanks>& even) {
    Root root = root_of(event.text(Field::collective));
    std::optional<std::int64_t> number = root == Root::none ? std::nullopt : integer(event, Field::rank);
    if (!number || *number < 0) return;
    Column<std::int32_t>& column = root == Root::sends ? collective.src_rank : collective.dst_rank;
    if (column.size() > row) return;  // recorded
    if (even && *number < even->size)
        column.set(row, (*even)[static_cast<std::int32_t>(*number)]);
    else if (listed && static_cast<std::uint64_t>(*number) < listed->listed.size())
        column.set(row, listed->listed[static_cast<std::size_t>(*number)]);
}

}  // namespace gpuprof::importers::kineto
