# version.cpp holds the project version and the commit it was built from; regenerated at every build, rewritten only on change.
set(MEMSWEEP_VERSION_CPP "${CMAKE_BINARY_DIR}/generated/version.cpp")
add_custom_target(memsweep_version_file
  COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DOUTPUT=${MEMSWEEP_VERSION_CPP}
          -DVERSION=${PROJECT_VERSION} -DBUILD_TYPE=${CMAKE_BUILD_TYPE} -DSANITIZE=${MEMSWEEP_SANITIZE}
          "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
          -P ${PROJECT_SOURCE_DIR}/cmake/WriteVersion.cmake
  BYPRODUCTS ${MEMSWEEP_VERSION_CPP}
  COMMENT "Recording the version")
