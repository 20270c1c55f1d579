# Manual pages and shell completions, made at build time from what they describe: the option tables of the binary and
# the documents of both formats; and the documents as they are installed. Pages carry the date of the commit, so that a
# build can be repeated.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_program(MEMSWEEP_GIT git)
set(manual_date "")
if(MEMSWEEP_GIT)
  execute_process(COMMAND ${MEMSWEEP_GIT} -C ${PROJECT_SOURCE_DIR} log -1 --format=%cs
                  OUTPUT_VARIABLE manual_date OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT manual_date)
  string(TIMESTAMP manual_date "%Y-%m-%d" UTC)  # SOURCE_DATE_EPOCH where it is set
endif()

set(MEMSWEEP_MANUALS "${CMAKE_BINARY_DIR}/manuals")
set(MEMSWEEP_COMPLETIONS "${CMAKE_BINARY_DIR}/completions")
file(MAKE_DIRECTORY "${MEMSWEEP_MANUALS}" "${MEMSWEEP_COMPLETIONS}")
set(made "")

# memsweep_printed(PROGRAM FILE ARGUMENTS...): what `PROGRAM ARGUMENTS` prints, in the source tree.
function(memsweep_printed program file)
  add_custom_command(OUTPUT "${file}" COMMAND ${program} ${ARGN} > "${file}" DEPENDS ${program}
                     WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" VERBATIM)
  set(made ${made} "${file}" PARENT_SCOPE)
endfunction()
memsweep_printed(memsweep "${MEMSWEEP_MANUALS}/memsweep.1" man --date ${manual_date})
memsweep_printed(memsweep "${MEMSWEEP_COMPLETIONS}/memsweep" completion bash)
memsweep_printed(memsweep "${MEMSWEEP_COMPLETIONS}/_memsweep" completion zsh)
memsweep_printed(memsweep "${MEMSWEEP_COMPLETIONS}/memsweep.fish" completion fish)
if(TARGET memsweep-mpi)
  memsweep_printed(memsweep-mpi "${MEMSWEEP_MANUALS}/memsweep-mpi.1" --man ${manual_date})
  memsweep_printed(memsweep-mpi "${MEMSWEEP_COMPLETIONS}/memsweep-mpi" --completion bash)
  memsweep_printed(memsweep-mpi "${MEMSWEEP_COMPLETIONS}/_memsweep_mpi" --completion zsh)
  memsweep_printed(memsweep-mpi "${MEMSWEEP_COMPLETIONS}/memsweep-mpi.fish" --completion fish)
endif()

foreach(format IN ITEMS scenario result)
  set(page "${MEMSWEEP_MANUALS}/memsweep-${format}.5")
  set(document "${PROJECT_SOURCE_DIR}/docs/${format}-format.md")
  set(script "${PROJECT_SOURCE_DIR}/scripts/manual_page.py")
  add_custom_command(OUTPUT "${page}" DEPENDS "${document}" "${script}" VERBATIM
    COMMAND ${Python3_EXECUTABLE} "${script}" "${document}" --name memsweep-${format} --section 5
            --date ${manual_date} --version ${PROJECT_VERSION} > "${page}")
  list(APPEND made "${page}")
endforeach()
# The documents, without links to what is not installed.
set(MEMSWEEP_DOCUMENTS "${CMAKE_BINARY_DIR}/documents")
set(script "${PROJECT_SOURCE_DIR}/scripts/installed_documents.py")
file(GLOB documents CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/*.md" "${PROJECT_SOURCE_DIR}/docs/*.png")
add_custom_command(OUTPUT "${MEMSWEEP_DOCUMENTS}/index.md" VERBATIM
  DEPENDS ${documents} "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md" "${script}"
  COMMAND ${Python3_EXECUTABLE} "${script}" "${PROJECT_SOURCE_DIR}" "${MEMSWEEP_DOCUMENTS}")
list(APPEND made "${MEMSWEEP_DOCUMENTS}/index.md")
# A sanitized binary may need surroundings that a build does not have: there the target is built when it is asked for.
if(MEMSWEEP_SANITIZE)
  add_custom_target(memsweep_manuals DEPENDS ${made})
else()
  add_custom_target(memsweep_manuals ALL DEPENDS ${made})
endif()
