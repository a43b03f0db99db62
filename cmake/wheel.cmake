# The content of the Python wheel (component `python`): the program, the library, and the distribution's shared
# libraries that other machines lack, with their licences. They share one folder and find each other by $ORIGIN. libc,
# libstdc++ and zlib come from the target machine, as in manylinux. Included only under scikit-build-core.
set(wheel_folder gpu_profile/_native)
install(TARGETS gpu-profile gpuprof gpuprof_inject gpuprof_os_calls COMPONENT python
        RUNTIME DESTINATION ${wheel_folder} LIBRARY DESTINATION ${wheel_folder})
install(TARGETS gpuprof_cupti COMPONENT python LIBRARY DESTINATION ${wheel_folder}/cupti_stand_in)

# Each library is copied under its soname, which is usually a link: a wheel cannot contain links.
install(CODE "
  set(folder \"\${CMAKE_INSTALL_PREFIX}/${wheel_folder}\")
  file(GET_RUNTIME_DEPENDENCIES EXECUTABLES \"$<TARGET_FILE:gpu-profile>\" LIBRARIES \"$<TARGET_FILE:gpuprof>\"
       PRE_INCLUDE_REGEXES \"^lib(fmt|simdjson|sqlite3|zstd)[.]so\" PRE_EXCLUDE_REGEXES \".\" RESOLVED_DEPENDENCIES_VAR found)
  foreach(path IN LISTS found)
    get_filename_component(name \"\${path}\" NAME)
    get_filename_component(real \"\${path}\" REALPATH)
    string(REGEX REPLACE \"[.]so.*\" \"\" stem \"\${name}\")
    message(STATUS \"Installing: \${folder}/\${name}\")
    file(COPY_FILE \"\${real}\" \"\${folder}/\${name}\")
    file(GLOB notices \"/usr/share/doc/\${stem}[0-9]*/copyright\")
    foreach(notice IN LISTS notices)
      file(COPY_FILE \"\${notice}\" \"\${folder}/LICENSE.\${stem}\")
    endforeach()
  endforeach()
" COMPONENT python)
