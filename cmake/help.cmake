# Packs the pages for `gpu-profile help` into one compressed file, ${GPUPROF_HELP_PAGES}: each page after a line with a form feed
# and its path. Images, benchmarks, decisions and the output of `gpu-profile schema` are excluded.
set(GPUPROF_HELP_PAGES ${CMAKE_BINARY_DIR}/help/pages.zst)
set(docs ${CMAKE_SOURCE_DIR}/docs)
file(GLOB_RECURSE help_pages CONFIGURE_DEPENDS RELATIVE ${docs} ${docs}/install.md ${docs}/agents.md ${docs}/start/*.md ${docs}/guides/*.md ${docs}/reference/*.md
     ${docs}/how-it-works/*.md)
list(FILTER help_pages EXCLUDE REGEX "README[.]md$|^how-it-works/.*/|^reference/schema[.]md$")
list(REMOVE_ITEM help_pages start/first-report.md)
list(PREPEND help_pages start/first-report.md)  # lists begin with it
list(TRANSFORM help_pages PREPEND ${docs}/ OUTPUT_VARIABLE help_files)
add_custom_command(
  OUTPUT ${GPUPROF_HELP_PAGES}
  COMMAND ${CMAKE_COMMAND} -D "PAGES=${help_pages}" -D DOCS=${docs} -D GLOSSARY=${CMAKE_SOURCE_DIR}/GLOSSARY.md
          -D PACKED=${GPUPROF_HELP_PAGES} -P ${CMAKE_SOURCE_DIR}/cmake/pack_pages.cmake
  DEPENDS ${help_files} ${CMAKE_SOURCE_DIR}/GLOSSARY.md ${CMAKE_SOURCE_DIR}/cmake/pack_pages.cmake
  COMMENT "Packing the pages of gpu-profile help"
  VERBATIM)
