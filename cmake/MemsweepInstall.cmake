# What `cmake --install build/release` and, after a build, `cpack -G DEB --config build/release/CPackConfig.cmake` put where;
# the .deb lands in the build folder.
# share/memsweep mirrors the source tree, because scenarios name their schema and their settings by relative path.
include(GNUInstallDirs)

install(TARGETS memsweep RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY scenarios/catalog scenarios/schema DESTINATION ${CMAKE_INSTALL_DATADIR}/memsweep/scenarios
        FILES_MATCHING PATTERN "*.json")
install(DIRECTORY configs DESTINATION ${CMAKE_INSTALL_DATADIR}/memsweep FILES_MATCHING PATTERN "*.json")
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES third_party/vega/LICENSES.txt DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME vega-licenses.txt)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME memsweep)
set(CPACK_PACKAGE_CONTACT "memsweep contributors")
set(CPACK_PACKAGE_DIRECTORY "${CMAKE_BINARY_DIR}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "memsweep runs declarative scenarios that allocate, drop and collect arrays
under different release disciplines and memory resources, and reports time,
working set, page faults and exact byte counters for each.")
# The libraries it needs, read from the binary by dpkg-shlibdeps (package dpkg-dev).
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
