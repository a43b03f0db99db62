# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by prepare.sh: how each library is built, in its unpacked source. Only what gpu-profile links; static.
libraries=(fmt simdjson zstd zlib sqlite libevent ncurses cli11 protozero libiberty re2)

build_fmt() { with_cmake -D FMT_TEST=OFF -D FMT_DOC=OFF; }

# Clang 20 refuses the AVX-512 kernel of this version: its functions have other ABIs than their callers.
build_simdjson() {
    flags+=" -DSIMDJSON_IMPLEMENTATION_ICELAKE=0"
    with_cmake -D SIMDJSON_DEVELOPER_MODE=OFF
}

build_zstd() {
    source_folder=build/cmake with_cmake -D ZSTD_BUILD_PROGRAMS=OFF -D ZSTD_BUILD_SHARED=OFF -D ZSTD_MULTITHREAD_SUPPORT=OFF \
        -D ZSTD_LEGACY_SUPPORT=OFF
}

# Its CMake names a file for Windows that Debian's archive omits, and a shared library that lld refuses.
build_zlib() {
    mkdir -p win32 && touch win32/zlib1.rc
    build_target=zlibstatic with_cmake
    cp _build/libz.a "$tools/prefix/lib/"
    cp zlib.h _build/zconf.h "$tools/prefix/include/"
}

build_sqlite() {
    cd deps/sqlite3
    "$tools/bin/cc" -O2 -fPIC $flags -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_THREADSAFE=1 \
        -DSQLITE_ENABLE_MATH_FUNCTIONS -c sqlite3.c -o sqlite3.o
    "$tools/bin/ar" rcs "$tools/prefix/lib/libsqlite3.a" sqlite3.o
    cp sqlite3.h "$tools/prefix/include/"
}

build_libevent() {
    with_cmake -D EVENT__LIBRARY_TYPE=STATIC -D EVENT__DISABLE_OPENSSL=ON -D EVENT__DISABLE_MBEDTLS=ON -D EVENT__DISABLE_TESTS=ON \
        -D EVENT__DISABLE_SAMPLES=ON -D EVENT__DISABLE_BENCHMARK=ON -D EVENT__DISABLE_REGRESS=ON
}

# No two distributions agree where terminfo is, and containers have none: six common terminals are compiled in.
build_ncurses() {
    local places=/etc/terminfo:/lib/terminfo:/usr/share/terminfo:/usr/lib/terminfo
    ./configure --host="$arch-linux-gnu" --prefix="$tools/prefix" --enable-widec --enable-overwrite --without-shared --without-debug --without-ada \
        --without-cxx --without-cxx-binding --without-manpages --without-progs --without-tests --with-normal --disable-stripping \
        --with-default-terminfo-dir=/usr/share/terminfo --with-terminfo-dirs="$places" --disable-db-install \
        --with-fallbacks=xterm-256color,xterm,screen-256color,tmux-256color,linux,vt100 \
        CC="$tools/bin/cc" CXX="$tools/bin/c++" AR="$tools/bin/ar" RANLIB="$tools/bin/ranlib" BUILD_CC=cc BUILD_CFLAGS=-O1 CFLAGS="-O2 -fPIC $flags"
    make -j "$jobs" libs
    make install.libs install.includes
}

build_cli11() { with_cmake -D CLI11_BUILD_TESTS=OFF -D CLI11_BUILD_EXAMPLES=OFF -D CLI11_BUILD_DOCS=OFF; }

build_protozero() { cp -r include/protozero "$tools/prefix/include/"; }

# The C++ demangler alone (decision 0049).
build_libiberty() {
    "$tools/bin/cc" -O2 -fPIC $flags -DHAVE_STDLIB_H -DHAVE_STRING_H -DHAVE_LIMITS_H -DHAVE_ALLOCA_H -I include -c libiberty/cp-demangle.c -o cp-demangle.o
    "$tools/bin/ar" rcs "$tools/prefix/lib/libiberty.a" cp-demangle.o
    mkdir -p "$tools/prefix/include/libiberty"
    cp include/{demangle,libiberty,ansidecl}.h "$tools/prefix/include/libiberty/"
}

# From npm, because Debian's archive of the sources lacks the tables that are generated from Unicode's data.
build_re2() {
    cd vendor
    local source
    for source in re2/*.cc util/rune.cc util/strutil.cc; do
        "$tools/bin/c++" -std=c++17 -O2 -fPIC -DNDEBUG -pthread $flags -I . -c "$source" -o "$(basename "$source" .cc).o" &
        while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    done
    while [ -n "$(jobs -p)" ]; do wait -n; done
    "$tools/bin/ar" rcs "$tools/prefix/lib/libre2.a" ./*.o
    mkdir -p "$tools/prefix/include/re2"
    cp re2/{filtered_re2,re2,set,stringpiece}.h "$tools/prefix/include/re2/"
}
