# What `cmake --install build/release` and, after a build, `cpack -G DEB --config build/release/CPackConfig.cmake` put where;
# the .deb lands in the build folder.
# share/memsweep mirrors the source tree, because scenarios name their schema and their settings by relative path.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(TARGET memsweep-mpi)  # asked for by its component, so that the package does not depend on MPI
  install(TARGETS memsweep-mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT mpi EXCLUDE_FROM_ALL)
  if(NOT MEMSWEEP_SANITIZE)
    install(FILES ${MEMSWEEP_MANUALS}/memsweep-mpi.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT mpi EXCLUDE_FROM_ALL)
    install(FILES ${MEMSWEEP_COMPLETIONS}/memsweep-mpi DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
            COMPONENT mpi EXCLUDE_FROM_ALL)
    install(FILES ${MEMSWEEP_COMPLETIONS}/_memsweep_mpi DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions
            COMPONENT mpi EXCLUDE_FROM_ALL)
    install(FILES ${MEMSWEEP_COMPLETIONS}/memsweep-mpi.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
            COMPONENT mpi EXCLUDE_FROM_ALL)
  endif()
endif()
install(TARGETS memsweep RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(MEMSWEEP_MUSL)
  install(FILES /usr/share/doc/musl-dev/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME musl-copyright OPTIONAL)
endif()
install(PROGRAMS "${CMAKE_BINARY_DIR}/memsweep-launch" DESTINATION lib/memsweep)  # where core/sys/command_launch.cpp looks for it
install(TARGETS memsweep_record LIBRARY DESTINATION lib/memsweep)  # where app/commands/recorder.cpp looks for it, beside bin/
install(DIRECTORY scenarios/catalog scenarios/schema scenarios/traces DESTINATION ${CMAKE_INSTALL_DATADIR}/memsweep/scenarios
        FILES_MATCHING PATTERN "*.json" PATTERN "*.mst")
# What records a runtime, for `memsweep profile fit`.
set(runtimes ${CMAKE_INSTALL_DATADIR}/memsweep/runtimes)
install(PROGRAMS tests/runtimes/record.py tests/runtimes/overlay.py DESTINATION ${runtimes})
install(FILES tests/runtimes/repro.py tests/runtimes/Repro.java tests/runtimes/Repro.cs DESTINATION ${runtimes})
install(DIRECTORY configs DESTINATION ${CMAKE_INSTALL_DATADIR}/memsweep FILES_MATCHING PATTERN "*.json")
install(DIRECTORY "${MEMSWEEP_DOCUMENTS}/" DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES third_party/vega/LICENSES.txt DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME vega-licenses.txt)
install(FILES cmake/debian/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(NOT MEMSWEEP_SANITIZE)
  install(FILES ${MEMSWEEP_MANUALS}/memsweep.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${MEMSWEEP_MANUALS}/memsweep-scenario.5 ${MEMSWEEP_MANUALS}/memsweep-result.5
          DESTINATION ${CMAKE_INSTALL_MANDIR}/man5)
  install(FILES ${MEMSWEEP_COMPLETIONS}/memsweep DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${MEMSWEEP_COMPLETIONS}/_memsweep DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
  install(FILES ${MEMSWEEP_COMPLETIONS}/memsweep.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# The layers below the file formats, for programs that measure themselves: find_package(memsweep), memsweep::core.
# Headers keep their paths below core/, in a folder of their own.
set(core_layers base model sys device memory measure lifetime transfer probe array trace trace_replay schedule engine)
add_library(memsweep_core INTERFACE)
set_target_properties(memsweep_core PROPERTIES EXPORT_NAME core)
set(libraries ${CMAKE_INSTALL_LIBDIR}/memsweep)
foreach(layer IN LISTS core_layers)
  target_link_libraries(memsweep_core INTERFACE memsweep_${layer})
  target_include_directories(memsweep_${layer} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/memsweep>)
  set_target_properties(memsweep_${layer} PROPERTIES EXPORT_NAME ${layer})
  install(TARGETS memsweep_${layer} EXPORT memsweep ARCHIVE DESTINATION ${libraries} LIBRARY DESTINATION ${libraries})
endforeach()
if(BUILD_SHARED_LIBS)
  foreach(layer IN ITEMS trace_import trace_symbols scenarios reporters cli commands)
    install(TARGETS memsweep_${layer} LIBRARY DESTINATION ${libraries})
  endforeach()
endif()
install(TARGETS memsweep_core EXPORT memsweep)
install(DIRECTORY core DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/memsweep FILES_MATCHING PATTERN "*.hpp" PATTERN "*.inc")
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/memsweep)
install(EXPORT memsweep NAMESPACE memsweep:: FILE memsweepTargets.cmake DESTINATION ${package_folder})
configure_package_config_file(cmake/memsweepConfig.cmake.in "${CMAKE_BINARY_DIR}/memsweepConfig.cmake"
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file("${CMAKE_BINARY_DIR}/memsweepConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/memsweepConfig.cmake" "${CMAKE_BINARY_DIR}/memsweepConfigVersion.cmake" cmake/MemsweepGate.cmake
        DESTINATION ${package_folder})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME memsweep)
set(CPACK_PACKAGE_CONTACT "memsweep contributors <contributors@memsweep.invalid>")
set(CPACK_PACKAGE_DIRECTORY "${CMAKE_BINARY_DIR}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/DebianDocuments.cmake")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "what a memory policy costs in time, working set and page faults")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "memsweep runs declarative scenarios that allocate, drop and collect arrays
under different release disciplines and memory resources, and reports time,
working set, page faults and exact byte counters for each.")
# The libraries it needs, read from the binary by dpkg-shlibdeps (package dpkg-dev).
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3")  # for share/memsweep/runtimes
if(MEMSWEEP_LIBDW_HEADERS)
  string(APPEND CPACK_DEBIAN_PACKAGE_RECOMMENDS ", libdw1")  # functions and lines of call stacks: opened at run time, so that nothing reads it off
endif()
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libfmt-dev, libexpected-dev, libhwloc-dev")  # for programs that link memsweep::core
include(CPack)
