// Walks the members of a JSON object and the elements of an array, in place and without recursion. `visit` is called
// with the cursor at the value and has to move it past the value.
#pragma once

#include "io/importers/kineto/scan.h"

namespace gpuprof::inline importers::kineto {

// Reads `"key" :` at p.
inline Scan scan_key(const char*& p, const char* end, RawValue& key) {
    if (p >= end) return Scan::cut_off;
    if (*p != '"') return Scan::bad;
    if (Scan scan = scan_string(p, end, key); scan != Scan::ok) return scan;
    p = skip_space(p, end);
    if (p >= end) return Scan::cut_off;
    if (*p != ':') return Scan::bad;
    p = skip_space(p + 1, end);
    return p < end ? Scan::ok : Scan::cut_off;
}

// Calls item() for each item between the opening bracket at p and `close`; p ends past the close.
template <class Item>
Scan scan_items(const char*& p, const char* end, char close, Item item) {
    p = skip_space(p + 1, end);
    if (p < end && *p == close) {
        ++p;
        return Scan::ok;
    }
    for (;;) {
        if (Scan scan = item(); scan != Scan::ok) return scan;
        p = skip_space(p, end);
        if (p >= end) return Scan::cut_off;
        char separator = *p++;
        if (separator == close) return Scan::ok;
        if (separator != ',') {
            --p;
            return Scan::bad;
        }
        p = skip_space(p, end);
    }
}

// Visits the members of the object whose '{' is at p: visit(key) with p at the value.
template <class Visit>
Scan scan_members(const char*& p, const char* end, Visit visit) {
    return scan_items(p, end, '}', [&] {
        RawValue key;
        if (Scan scan = scan_key(p, end, key); scan != Scan::ok) return scan;
        return visit(key);
    });
}

// Visits the elements of the array whose '[' is at p: visit() with p at the element.
template <class Visit>
Scan scan_elements(const char*& p, const char* end, Visit visit) {
    return scan_items(p, end, ']', [&] { return p < end ? visit() : Scan::cut_off; });
}

}  // namespace gpuprof::importers::kineto
