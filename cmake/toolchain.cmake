# Compiler settings of every target: the standard, the warnings, the sanitizers.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(GPUPROF_PORTABLE_TOOLS)
  # The compiler of cmake/portable takes linker options by -Wl only, while CMake writes -Xlinker for Clang.
  foreach(language C CXX)
    set(CMAKE_${language}_LINKER_WRAPPER_FLAG "-Wl,")
    set(CMAKE_${language}_LINKER_WRAPPER_FLAG_SEP ",")
  endforeach()
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
# What handles every event is compiled with -O3 (gpuprof_every_event).
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

# The same command lines whether or not ccache is installed: installing it later must not make every object outdated.
option(GPUPROF_CCACHE "Compile through ccache if it is installed" ON)
if(GPUPROF_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_SOURCE_DIR}/cmake/launcher)
endif()

add_library(gpuprof_options INTERFACE)
target_include_directories(gpuprof_options INTERFACE ${CMAKE_SOURCE_DIR})
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # io/importers/kineto/event.cc makes tables of keys when it is compiled.
  target_compile_options(gpuprof_options INTERFACE -fconstexpr-steps=10000000)
endif()
target_compile_options(gpuprof_options INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # At -O2 these produce false warnings for libstdc++'s string = "x" and push_back("x"), GCC bugs 105329 and 105651.
  target_compile_options(gpuprof_options INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()
# Only for the compiler whose warnings were read: a newer one must never stop somebody who wants to run the tests.
if(GPUPROF_WERROR AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12
   AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(gpuprof_options INTERFACE -Werror)
endif()
# Hardening of shipped binaries, checked by tools/check_elf.py. _FORTIFY_SOURCE needs an optimised build.
include(CheckPIESupported)
check_pie_supported()
target_link_options(gpuprof_options INTERFACE LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
target_compile_options(gpuprof_options INTERFACE
  $<$<CONFIG:Release>:-fstack-protector-strong> $<$<CONFIG:Release>:-fstack-clash-protection>
  $<$<CONFIG:Release>:-U_FORTIFY_SOURCE> $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2>)
# Test programs are linked often and never shipped, so use the fastest available linker. Portable builds have one only.
if(GPUPROF_TESTS AND NOT GPUPROF_PORTABLE_TOOLS)
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=mold GPUPROF_MOLD)
  if(GPUPROF_MOLD)
    target_link_options(gpuprof_options INTERFACE -fuse-ld=mold)
  endif()
endif()
if(GPUPROF_SANITIZE)
  # Line tables suffice for a sanitizer's stack traces; full debug information costs GCC over a minute for some files.
  target_compile_options(gpuprof_options INTERFACE -Og -g1)
  target_compile_options(gpuprof_options INTERFACE -fsanitize=${GPUPROF_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # Sanitizers know the end of memory, not of the values in it.
  target_compile_definitions(gpuprof_options INTERFACE _GLIBCXX_ASSERTIONS GPUPROF_CHECK_INDICES)
  if(GPUPROF_SANITIZE MATCHES undefined)
    # With these GCC takes twice the time to compile. The address sanitizer detects null pointers, and the fuzz preset
    # enables all checks.
    target_compile_options(gpuprof_options INTERFACE -fno-sanitize=null,alignment,object-size,vptr)
  endif()
  target_link_options(gpuprof_options INTERFACE -fsanitize=${GPUPROF_SANITIZE})
endif()
if(GPUPROF_FUZZ)
  # Line coverage as well, so that tests/fuzz/run.py can report which lines of each reader the corpus reaches.
  target_compile_options(gpuprof_options INTERFACE -g1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
                         -fprofile-instr-generate -fcoverage-mapping)
  target_compile_definitions(gpuprof_options INTERFACE _GLIBCXX_ASSERTIONS GPUPROF_CHECK_INDICES)
  target_link_options(gpuprof_options INTERFACE -fsanitize=address,undefined -fprofile-instr-generate)
endif()
