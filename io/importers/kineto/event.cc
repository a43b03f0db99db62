#include "io/importers/kineto/event.h"

#include "io/importers/kineto/key_table.h"
#include "io/importers/kineto/members.h"

namespace gpuprof::inline importers::kineto {
namespace {

enum class Place { event, args };
struct FieldKey {
    Place place;
    KeyName<Field> name;
};

#define GPUPROF_KINETO_KEY(name, place, key) {Place::place, {key, Field::name}},
constexpr FieldKey kFieldKeys[] = {GPUPROF_KINETO_FIELDS(GPUPROF_KINETO_KEY)
                                       GPUPROF_KINETO_ALIASES(GPUPROF_KINETO_KEY)};
#undef GPUPROF_KINETO_KEY

consteval std::size_t count_of(Place place) {
    std::size_t n = 0;
    for (const FieldKey& key : kFieldKeys) n += key.place == place ? 1 : 0;
    return n;
}

template <Place place>
consteval auto table_of() {
    KeyName<Field> names[count_of(place)];
    std::size_t n = 0;
    for (const FieldKey& key : kFieldKeys)
        if (key.place == place) names[n++] = key.name;
    return KeyTable(names);
}

constexpr auto kEventKeys = table_of<Place::event>();
constexpr auto kArgKeys = table_of<Place::args>();

// Every key as Kineto prints it, with quotes, colon and space.
#define GPUPROF_KINETO_PRINTED(name, place, key) "\"" key "\": ",
constexpr std::string_view kPrinted[] = {GPUPROF_KINETO_FIELDS(GPUPROF_KINETO_PRINTED) ""};
#undef GPUPROF_KINETO_PRINTED

// Reads the keys of one place. A recorder prints the keys of a kind of event in one order, so the two keys that last
// followed this one are tried first: a comparison is faster than finding the key's end and looking it up.
template <Place place>
class KeyReader {
public:
    explicit KeyReader(Event::Followers& followers) : followers_(followers) {}

    Scan read(const char*& p, const char* end, Field& field) {
        auto& [first, second] = followers_[static_cast<std::size_t>(last_)];
        if (take(p, end, first)) {
            field = first;
        } else if (take(p, end, second)) {
            field = second;
        } else {
            RawValue key;
            if (Scan scan = scan_key(p, end, key); scan != Scan::ok) return scan;
            field = place == Place::event ? kEventKeys.find(key.text(), Field::unknown)
                                          : kArgKeys.find(key.text(), Field::unknown);
            second = first;
            first = field;
        }
        last_ = field;
        return Scan::ok;
    }

private:
    // Moves p past the key `guess` if it is next.
    static bool take(const char*& p, const char* end, Field guess) {
        std::string_view printed = kPrinted[static_cast<std::size_t>(guess)];
        if (guess == Field::unknown || p + printed.size() >= end || !same_bytes(p, printed.data(), printed.size()))
            return false;
        p = skip_space(p + printed.size(), end);
        return true;
    }

    Event::Followers& followers_;
    Field last_ = Field::unknown;
};

// Inline in both loops: as a call it costs a tenth of reading.
[[gnu::always_inline]] inline Scan read_field(const char*& p, const char* end, Field field, Event& event) {
    RawValue value;
    bool too_deep = false;
    if (Scan scan = scan_value(p, end, value, too_deep); scan != Scan::ok) return scan;
    if (too_deep) {
        event.too_deep = true;
    } else {
        event.put(field, value);  // an unknown field goes to a slot that is never read
    }
    return Scan::ok;
}

Scan read_args(const char*& p, const char* end, Event& event) {
    KeyReader<Place::args> keys(event.arg_followers);
    return scan_items(p, end, '}', [&] {
        Field field;
        if (Scan scan = keys.read(p, end, field); scan != Scan::ok) return scan;
        return read_field(p, end, field, event);
    });
}

}  // namespace

Scan read_event(const char*& p, const char* end, Event& event) {
    event.present = {};
    event.too_deep = false;
    event.args = {};
    KeyReader<Place::event> keys(event.key_followers);
    return scan_items(p, end, '}', [&] {
        Field field;
        if (Scan scan = keys.read(p, end, field); scan != Scan::ok) return scan;
        if (field == Field::args && *p == '{') {
            const char* begin = p;
            Scan scan = read_args(p, end, event);
            event.args = {begin, static_cast<std::size_t>(p - begin)};
            return scan;
        }
        return read_field(p, end, field, event);
    });
}

char last_visible(const char* begin, const char* p, char otherwise) {
    while (p > begin && static_cast<unsigned char>(p[-1]) <= ' ') --p;
    return p > begin ? p[-1] : otherwise;
}

bool looks_like_event(char before, const char* p, const char* end) {
    if (p >= end || *p != '{') return false;
    if (before != ',' && before != '[' && before != '}') return false;
    const char* limit = end - p > kEventPrefix ? p + kEventPrefix : end;
    p = skip_space(p + 1, limit);
    if (p >= limit || *p != '"') return false;
    const char* key = ++p;
    while (p < limit && *p != '"') ++p;
    if (p >= limit) return false;
    std::string_view name{key, static_cast<std::size_t>(p - key)};
    if (kEventKeys.find(name, Field::unknown) == Field::unknown) return false;
    p = skip_space(p + 1, limit);
    return p < limit && *p == ':';
}

}  // namespace gpuprof::importers::kineto
