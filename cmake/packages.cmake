# The tarball, .deb and .rpm of a portable build, all from the install rules. Included only for portable builds: others need
# the libraries of the distribution they were built on.
set(CPACK_PACKAGE_NAME gpu-profile)
set(CPACK_PACKAGE_VENDOR "The gpu-profile authors")
set(CPACK_PACKAGE_CONTACT "The gpu-profile authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Find out why your GPU waits and what to change")
set(CPACK_PACKAGE_FILE_NAME gpu-profile-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR TXZ DEB RPM)
set(CPACK_STRIP_FILES OFF) # the linker has stripped them
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)

set(CPACK_DEBIAN_FILE_NAME ${CPACK_PACKAGE_FILE_NAME}.deb)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.28)")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS python3)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)

set(CPACK_RPM_FILE_NAME ${CPACK_PACKAGE_FILE_NAME}.rpm)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PACKAGE_AUTOREQ NO) # the next line says it
set(CPACK_RPM_PACKAGE_REQUIRES "glibc >= 2.28")
set(CPACK_RPM_PACKAGE_SUGGESTS python3)
set(CPACK_RPM_SPEC_MORE_DEFINE "%define __os_install_post %{nil}\n%define _build_id_links none
%define _buildhost localhost
%define use_source_date_epoch_as_buildtime 1
%define clamp_mtime_to_source_date_epoch 1")
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/bin /usr/include /usr/lib /usr/share /usr/share/doc)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
  set(CPACK_RPM_PACKAGE_ARCHITECTURE aarch64)
else()
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE amd64)
  set(CPACK_RPM_PACKAGE_ARCHITECTURE x86_64)
endif()

# The tarball has its own root folder and no usr/.
file(WRITE ${CMAKE_BINARY_DIR}/cpack_project.cmake
     "if(CPACK_GENERATOR STREQUAL TXZ)\n  set(CPACK_PACKAGING_INSTALL_PREFIX /)\nendif()\n")
# Files have the time of the commit. rpmbuild itself changes only later times, so a file linked before the commit would differ.
file(WRITE ${CMAKE_BINARY_DIR}/package_times.cmake
     "execute_process(COMMAND find \${CPACK_TEMPORARY_INSTALL_DIRECTORY} -exec touch --date @\$ENV{SOURCE_DATE_EPOCH} {} +)\n")
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_BINARY_DIR}/package_times.cmake)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_BINARY_DIR}/cpack_project.cmake)
include(CPack)
