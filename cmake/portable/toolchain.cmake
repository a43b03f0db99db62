# Compiles for glibc 2.28 with the tools and static libraries that prepare.sh has made (GPUPROF_PORTABLE_TOOLS). Any other
# compiler with an old sysroot works as well: only the four paths and GPUPROF_OLDEST_GLIBC below are particular.
set(GPUPROF_PORTABLE_TOOLS "" CACHE PATH "The folder that cmake/portable/prepare.sh prints")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES GPUPROF_PORTABLE_TOOLS)
if(NOT EXISTS "${GPUPROF_PORTABLE_TOOLS}/bin/c++")
  message(FATAL_ERROR "GPUPROF_PORTABLE_TOOLS is not set; use tools/build_portable, or the folder that cmake/portable/prepare.sh prints")
endif()

get_filename_component(portable_name ${GPUPROF_PORTABLE_TOOLS} NAME)
string(REGEX MATCH "^(x86_64|aarch64)" portable_architecture ${portable_name})
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${portable_architecture})
set(CMAKE_C_COMPILER ${GPUPROF_PORTABLE_TOOLS}/bin/cc)
set(CMAKE_CXX_COMPILER ${GPUPROF_PORTABLE_TOOLS}/bin/c++)
set(CMAKE_AR ${GPUPROF_PORTABLE_TOOLS}/bin/ar)
set(CMAKE_RANLIB ${GPUPROF_PORTABLE_TOOLS}/bin/ranlib)
# The flag that compiles the injected library for a glibc that is older still.
set(GPUPROF_OLDEST_GLIBC "SHELL:-target ${portable_architecture}-linux-gnu.2.17")

# Unused functions are dropped; symbols and this machine's paths are not in the files.
get_filename_component(portable_source ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
foreach(language C CXX)
  set(CMAKE_${language}_FLAGS_INIT
      "-ffunction-sections -fdata-sections -ffile-prefix-map=${portable_source}=. -isystem ${GPUPROF_PORTABLE_TOOLS}/prefix/include")
endforeach()
set(CMAKE_EXE_LINKER_FLAGS_INIT "-pie -Wl,--gc-sections -s")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-Wl,--gc-sections -s")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "-Wl,--gc-sections -s")

set(CMAKE_FIND_ROOT_PATH ${GPUPROF_PORTABLE_TOOLS}/prefix)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER) # node and npm are the building machine's
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
