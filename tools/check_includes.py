#!/usr/bin/env python3
"""Checks that C++ sources include the standard headers of the names that they use.

Headers of one standard library include more than those of another, or of its next version, so a source that compiles
here may not compile there. A source must reach a header that declares each name by its own includes and those of the
project headers it includes. What standard headers include in turn does not count, except what the standard or their own
interface guarantees. Only the names in DECLARED are checked, and without std:: only integers such as uint64_t. Comments, strings
and .def files do not count.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = (".h", ".cc", ".cu")

# Header: the names that it declares. The first header that declares a name is the one to include.
DECLARED = {
    "algorithm": "adjacent_find all_of any_of binary_search clamp copy copy_if copy_n count count_if equal equal_range fill fill_n find"
    " find_first_of find_if find_if_not for_each generate includes inplace_merge is_sorted lexicographical_compare lower_bound"
    " make_heap max max_element merge min min_element minmax minmax_element mismatch none_of nth_element partial_sort partition"
    " partition_point pop_heap push_heap remove remove_if replace replace_if reverse rotate search set_difference set_intersection"
    " set_union shuffle sort sort_heap stable_partition stable_sort swap_ranges transform unique unique_copy upper_bound",
    "any": "any any_cast",
    "array": "array to_array",
    "atomic": "atomic atomic_flag atomic_ref atomic_thread_fence memory_order memory_order_acq_rel memory_order_acquire"
    " memory_order_relaxed memory_order_release memory_order_seq_cst",
    "bit": "bit_cast bit_ceil bit_floor bit_width countl_zero countr_zero endian has_single_bit popcount rotl rotr",
    "bitset": "bitset",
    "cctype": "isalnum isalpha isdigit ispunct isspace isupper isxdigit tolower toupper",
    "charconv": "chars_format from_chars from_chars_result to_chars to_chars_result",
    "chrono": "chrono",
    "clocale": "setlocale",
    "cmath": "abs atan atan2 ceil cos erf erfc exp exp2 expm1 fabs floor fmod frexp hypot isfinite isinf isnan ldexp lgamma llround log"
    " log10 log1p log2 lround modf nan nearbyint pow round signbit sin sqrt tan tgamma trunc",
    "concepts": "convertible_to derived_from floating_point integral invocable same_as",
    "condition_variable": "condition_variable condition_variable_any",
    "csignal": "raise signal",
    "cstdint": " ".join(f"{sign}int{kind}_t" for sign in ("", "u") for kind in "8 16 32 64 max ptr".split()),
    "cstdio": "FILE fclose ferror fflush fgets fopen fprintf fputs fread fscanf fseek ftell fwrite perror printf puts remove rename"
    " snprintf sscanf vsnprintf",
    "cstdlib": "_Exit abort abs aligned_alloc at_quick_exit atexit atof atoi atol atoll calloc exit free getenv malloc quick_exit rand"
    " realloc strtod strtol strtoll strtoul strtoull system",
    "cstring": "memchr memcmp memcpy memmove memset strcat strchr strcmp strcpy strcspn strerror strlen strncmp strncpy strrchr strspn"
    " strstr",
    "ctime": "clock gmtime localtime mktime strftime time time_t tm",
    "deque": "deque",
    "exception": "current_exception exception exception_ptr rethrow_exception set_terminate terminate uncaught_exceptions",
    "filesystem": "filesystem",
    "fstream": "filebuf fstream ifstream ofstream",
    "functional": "bind cref equal_to function greater greater_equal hash invoke less less_equal minus multiplies not_fn plus ref"
    " reference_wrapper",
    "future": "async future future_status launch packaged_task promise shared_future",
    "initializer_list": "initializer_list",
    "ios": "ios ios_base streamoff streamsize",
    "iostream": "cerr cin clog cout",
    "istream": "istream ws",
    "iterator": "advance back_inserter begin cbegin cend data distance empty end forward_iterator_tag input_iterator_tag inserter"
    " istream_iterator istreambuf_iterator iterator_traits make_move_iterator make_reverse_iterator next ostream_iterator prev"
    " random_access_iterator_tag rbegin rend reverse_iterator size ssize",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "memory": "addressof allocator allocator_traits construct_at default_delete destroy_at enable_shared_from_this make_shared make_unique"
    " make_unique_for_overwrite shared_ptr static_pointer_cast uninitialized_copy unique_ptr weak_ptr",
    "mutex": "adopt_lock call_once defer_lock lock_guard mutex once_flag recursive_mutex scoped_lock timed_mutex try_to_lock unique_lock",
    "new": "align_val_t bad_alloc launder nothrow nothrow_t set_new_handler",
    "numbers": "numbers",
    "numeric": "accumulate adjacent_difference gcd inner_product iota lcm midpoint partial_sum reduce transform_reduce",
    "optional": "bad_optional_access make_optional nullopt nullopt_t optional",
    "ostream": "endl flush ostream",
    "queue": "priority_queue queue",
    "random": "bernoulli_distribution discrete_distribution exponential_distribution lognormal_distribution minstd_rand mt19937"
    " mt19937_64 normal_distribution poisson_distribution random_device seed_seq uniform_int_distribution uniform_real_distribution",
    "regex": "cmatch regex regex_error regex_match regex_replace regex_search smatch sregex_iterator",
    "semaphore": "binary_semaphore counting_semaphore",
    "set": "multiset set",
    "shared_mutex": "shared_lock shared_mutex",
    "source_location": "source_location",
    "span": "as_bytes as_writable_bytes dynamic_extent span",
    "sstream": "istringstream ostringstream stringbuf stringstream",
    "stack": "stack",
    "stdexcept": "domain_error invalid_argument length_error logic_error out_of_range overflow_error range_error runtime_error",
    "stop_token": "stop_source stop_token",
    "streambuf": "streambuf",
    "string": "basic_string char_traits getline stod stof stoi stol stoll stoul stoull string string_literals to_string u16string u32string"
    " u8string wstring",
    "string_view": "basic_string_view string_view string_view_literals u32string_view wstring_view",
    "system_error": "errc error_category error_code error_condition generic_category make_error_code system_category system_error",
    "thread": "jthread this_thread thread",
    "tuple": "apply forward_as_tuple get ignore make_from_tuple make_tuple tie tuple tuple_cat",
    "type_traits": "conditional_t decay_t enable_if enable_if_t false_type integral_constant invoke_result_t is_arithmetic_v is_const_v"
    " is_constant_evaluated is_convertible_v is_empty_v is_enum_v is_floating_point_v is_integral_v is_invocable_r_v is_invocable_v"
    " is_pointer_v is_same is_same_v is_signed_v is_standard_layout_v is_trivially_copyable_v is_unsigned_v is_void_v make_signed_t"
    " make_unsigned_t remove_const_t remove_cv_t remove_cvref_t remove_pointer_t remove_reference_t true_type type_identity_t"
    " underlying_type_t void_t",
    "typeindex": "type_index",
    "typeinfo": "type_info",
    "unordered_map": "unordered_map unordered_multimap",
    "unordered_set": "unordered_multiset unordered_set",
    "utility": "as_const cmp_equal cmp_greater cmp_less declval exchange forward get in_place in_place_t index_sequence"
    " index_sequence_for integer_sequence make_index_sequence make_pair move move_if_noexcept pair piecewise_construct swap",
    "variant": "bad_variant_access get get_if holds_alternative monostate variant variant_alternative_t variant_size_v visit",
    "vector": "vector",
}

# Names that further headers declare: those of the standard, and those whose own interface consists of the name.
RANGES = "array deque list map regex set span string string_view unordered_map unordered_set vector"
VALUES = "algorithm deque functional list map memory optional queue set string tuple unordered_map unordered_set variant vector"
ALSO = {
    "begin cbegin cend data empty end rbegin rend size ssize": RANGES,
    "initializer_list": "algorithm array deque list map queue random regex set string string_view unordered_map unordered_set utility vector",
    DECLARED["cstdint"]: "cinttypes",
    "move": VALUES + " filesystem future thread",
    "forward": VALUES,
    "pair make_pair": "map tuple unordered_map",
    "swap": VALUES,
    "get": "array map unordered_map",
    "less greater": "map queue set",
    "hash": "memory optional string string_view thread variant",
    "string": "filesystem sstream stdexcept system_error",
    "string_view": "string",
    "ios ios_base streamoff streamsize": "fstream iostream istream ostream sstream streambuf",
    "istream": "fstream iostream sstream",
    "ostream endl flush": "fstream iostream sstream",
    "errc": "charconv",
    "error_code": "filesystem",
    "exception": "new stdexcept system_error",
    "time_t tm": "chrono",
    "type_info": "typeindex",
    "mutex unique_lock": "condition_variable",
    "remove_cvref_t remove_reference_t is_same_v": "concepts",
}
C_HEADERS = {
    "cctype": "ctype.h",
    "cmath": "math.h",
    "csignal": "signal.h",
    "cstdint": "stdint.h",
    "cstdio": "stdio.h",
    "cstdlib": "stdlib.h",
    "cstring": "string.h",
    "ctime": "time.h",
}


def headers_of_names():
    """Name: the headers that declare it, the one to include first."""
    headers = {}
    for header, names in DECLARED.items():
        for name in names.split():
            headers.setdefault(name, []).append(header)
    for names, more in ALSO.items():
        for name in names.split():
            headers[name] += more.split()
    return headers


HEADERS = headers_of_names()
# Headers that not every supported compiler can read, and why.
REFUSED = {"ranges": "clang 14 and 15 refuse the views of GCC 12's library"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
USE = re.compile(r"(?:\bstd::|(?<![:\w])(?=u?int(?:8|16|32|64)_t\b))(\w+)")
# What is no code, in the order of trial: includes and numbers (which contain quotes) are kept.
LEXEME = re.compile(
    r"(?P<kept>^[ \t]*#[ \t]*include[^\n]*|\b[0-9][0-9a-zA-Z.']*)"
    r"|//[^\n]*|/\*.*?\*/"
    r'|\bu?8?[RUL]+"(?P<mark>[^(\s"]*)\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])+'",
    re.MULTILINE | re.DOTALL,
)


def code_of(text):
    """The text without comments and strings; lines remain."""
    return LEXEME.sub(lambda found: found["kept"] or "\n" * found[0].count("\n"), text)


class Sources:
    """texts: path from the root to text. Project includes name such paths."""

    def __init__(self, texts):
        self.texts = texts
        self.includes = {}
        self.reached = {}

    def of(self, path):
        """(project files, standard headers) that the file includes itself."""
        if path not in self.includes:
            text = self.texts[path]
            found = INCLUDE.findall(code_of(text) if 'R"' in text or "/*" in text else text)
            project = [name for quoted, angled in found for name in [quoted or angled] if name in self.texts]
            self.includes[path] = project, {angled for _, angled in found}
        return self.includes[path]

    def headers(self, path):
        """Headers that the file reaches, its own and those of the project files it includes."""
        if path not in self.reached:
            seen, waiting, headers = {path}, [path], set()
            while waiting:
                project, angled = self.of(waiting.pop())
                headers |= angled
                waiting += [one for one in project if one not in seen]
                seen.update(project)
            self.reached[path] = headers
        return self.reached[path]

    def problems(self, path):
        """(line, name, header to include) of each name without its header; each header once."""
        reached, text = self.headers(path), self.texts[path]
        absent = {name for name in set(USE.findall(text)) & HEADERS.keys() if not declared(name, reached)}
        if not absent:
            return
        asked = set()
        for number, line in enumerate(code_of(text).split("\n"), 1):
            for name in USE.findall(line):
                if name in absent and HEADERS[name][0] not in asked:
                    asked.add(HEADERS[name][0])
                    yield number, name, HEADERS[name][0]

    def refused(self, path):
        return sorted(self.of(path)[1] & REFUSED.keys())


def declared(name, reached):
    return any(header in reached or C_HEADERS.get(header) in reached for header in HEADERS[name])


def project_texts():
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    return {name: (ROOT / name).read_text() for name in listed if name.endswith(SOURCES) and (ROOT / name).is_file()}


def main():
    sources = Sources(project_texts())
    problems = [
        f"{path}:{line}: uses std::{name}; include <{header}>"
        for path in sorted(sources.texts)
        for line, name, header in sources.problems(path)
    ] + [f"{path}: includes <{header}>: {REFUSED[header]}" for path in sorted(sources.texts) for header in sources.refused(path)]
    print("\n".join(problems) if problems else f"{len(sources.texts)} sources include what they use of the standard library")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
