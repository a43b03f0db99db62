# Builds the viewer (web/) into one file, ${GPUPROF_VIEWER_PAGE}: npm packages as pinned by the lock file, then the
# bundler.
set(web ${CMAKE_SOURCE_DIR}/web)
set(GPUPROF_VIEWER_PAGE ${CMAKE_BINARY_DIR}/viewer/page.html)
file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS ${web}/*.ts ${web}/*.tsx ${web}/*.css ${web}/page.html)
list(FILTER web_sources EXCLUDE REGEX "/(node_modules|dist|test)/")

# npm writes this file last. Install scripts of packages do not run. Every build folder has this rule for the one web/, so
# it leaves packages alone that another one installed; otherwise the first build in a new folder would outdate the pages of all others.
set(installed ${web}/node_modules/.package-lock.json)
set(install "${GPUPROF_NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error && touch ${installed}")
add_custom_command(
  OUTPUT ${installed}
  COMMAND sh -c "[ '${installed}' -nt package-lock.json ] || { ${install}; }"
  DEPENDS ${web}/package-lock.json
  WORKING_DIRECTORY ${web}
  COMMENT "Installing the viewer's build tools"
  VERBATIM)
add_custom_command(
  OUTPUT ${GPUPROF_VIEWER_PAGE}
  COMMAND ${GPUPROF_NODE} build.mjs ${GPUPROF_VIEWER_PAGE}
  DEPENDS ${installed} ${web}/build.mjs ${web}/built_modules.mjs ${web}/package.json ${web}/tsconfig.json ${web_sources} ${CMAKE_SOURCE_DIR}/docs/guides/sql-cookbook.md ${CMAKE_SOURCE_DIR}/core/schema/library_frames.def
  WORKING_DIRECTORY ${web}
  COMMENT "Building the viewer")
