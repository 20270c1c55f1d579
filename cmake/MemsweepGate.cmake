# A test that a program got no worse: it and another build of it are measured in rounds until the verdict is sure.
#
#   memsweep_gate(TARGET app AGAINST /path/of/main/app [ARGS words...] [BUDGET 10m] [THRESHOLD wall_time=5% ...] [NAME name]
#                 [STACKS])
#
# TARGET is an executable target, AGAINST another one or a path. The test is named memsweep.gate.<target>; its result is
# <test>.json in the current binary folder. It runs alone, as what it measures must.
# With STACKS it names the call sites that more memory comes from.
function(memsweep_gate)
  cmake_parse_arguments(PARSE_ARGV 0 gate "STACKS" "TARGET;AGAINST;BUDGET;NAME" "ARGS;THRESHOLD")
  if(NOT TARGET "${gate_TARGET}" OR NOT gate_AGAINST OR gate_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "memsweep_gate: give TARGET a target and AGAINST a target or a path; not known: ${gate_UNPARSED_ARGUMENTS}")
  endif()
  find_program(MEMSWEEP_EXECUTABLE memsweep HINTS "${memsweep_DIR}/../../../bin" "${memsweep_DIR}/../../../../bin" REQUIRED)
  if(TARGET "${gate_AGAINST}")
    set(gate_AGAINST "$<TARGET_FILE:${gate_AGAINST}>")
  endif()
  set(base "")
  foreach(word IN LISTS gate_AGAINST gate_ARGS)
    string(REPLACE "'" "'\\''" word "${word}")
    string(APPEND base "'${word}' ")
  endforeach()
  set(options "")
  foreach(threshold IN LISTS gate_THRESHOLD)
    list(APPEND options --threshold "${threshold}")
  endforeach()
  if(gate_BUDGET)
    list(APPEND options --budget "${gate_BUDGET}")
  endif()
  if(gate_STACKS)
    list(APPEND options --stacks)
  endif()
  if(NOT gate_NAME)
    set(gate_NAME "memsweep.gate.${gate_TARGET}")
  endif()
  add_test(NAME "${gate_NAME}" COMMAND "${MEMSWEEP_EXECUTABLE}" run ${options} -o "${CMAKE_CURRENT_BINARY_DIR}/${gate_NAME}.json"
           --against "${base}" -- "$<TARGET_FILE:${gate_TARGET}>" ${gate_ARGS})
  set_tests_properties("${gate_NAME}" PROPERTIES RUN_SERIAL TRUE LABELS memsweep)
endfunction()
