# Run by CPack over what it has installed, before the package is made: what Debian wants of a package and other systems
# do not. Manual pages and changelogs are compressed; the changelog of the package names its version; lintian reads why
# it may pass over some of its rules.
file(GLOB_RECURSE compressed "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*/share/man/*.[0-9]")
file(GLOB_RECURSE changelogs "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*/share/doc/${CPACK_PACKAGE_NAME}/CHANGELOG.md")
foreach(file IN LISTS changelogs)
  cmake_path(GET file PARENT_PATH documents)
  file(COPY_FILE "${file}" "${documents}/changelog")
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # SOURCE_DATE_EPOCH where it is set
  file(WRITE "${documents}/changelog.Debian" "${CPACK_PACKAGE_NAME} (${CPACK_PACKAGE_VERSION}-1) unstable; urgency=medium\n\n"
       "  * ${CPACK_PACKAGE_NAME} ${CPACK_PACKAGE_VERSION}: changelog.gz says what is new.\n\n"
       " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  list(APPEND compressed "${documents}/changelog" "${documents}/changelog.Debian")
  cmake_path(SET overrides NORMALIZE "${documents}/../../lintian/overrides/${CPACK_PACKAGE_NAME}")
  configure_file("${CMAKE_CURRENT_LIST_DIR}/debian/lintian-overrides" "${overrides}" COPYONLY)
endforeach()
if(compressed)
  execute_process(COMMAND gzip -9n ${compressed} COMMAND_ERROR_IS_FATAL ANY)
endif()
