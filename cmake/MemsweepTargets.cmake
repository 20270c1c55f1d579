# memsweep_library(NAME [LINK targets...]): one static library per folder, of every .cpp beside its CMakeLists.txt.
function(memsweep_library name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  add_library(memsweep_${name} STATIC ${sources})
  # Our warnings and sanitizers are for this build: programs that link an installed library choose their own.
  target_link_libraries(memsweep_${name} PUBLIC $<BUILD_INTERFACE:memsweep_flags> ${arg_LINK})
  target_compile_features(memsweep_${name} PUBLIC cxx_std_20)
endfunction()

# memsweep_test(FOLDER RINGS unit [machine] LINK targets...): one executable per folder, one ctest per ring.
# An empty ring fails, so that a test cannot vanish unseen.
function(memsweep_test folder)
  cmake_parse_arguments(arg "" "" "RINGS;LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp")
  add_executable(test_${folder} ${sources})
  target_link_libraries(test_${folder} PRIVATE memsweep_test_support ${arg_LINK})
  add_dependencies(test_programs test_${folder})
  # Instrumented, a test file takes 7.4 s to compile at -O1 and 4.2 s without; what it tests stays at the preset's level.
  if(MEMSWEEP_SANITIZE)
    target_compile_options(test_${folder} PRIVATE -O0)
  endif()
  # ThreadSanitizer does not let a signal handler jump out of an access that faulted.
  if(MEMSWEEP_SANITIZE STREQUAL "thread")
    set(left_out "~[traps]")
  endif()
  foreach(ring IN LISTS arg_RINGS)
    add_test(NAME ${ring}.${folder} COMMAND test_${folder} "[${ring}]${left_out}" --order rand --rng-seed time)
    set_tests_properties(${ring}.${folder} PROPERTIES LABELS ${ring} TIMEOUT 600
                         FAIL_REGULAR_EXPRESSION "No tests ran;No test cases matched")
    if(ring STREQUAL "machine")  # it counts this machine's faults and loads both of its processors
      set_tests_properties(${ring}.${folder} PROPERTIES RUN_SERIAL TRUE)
    endif()
  endforeach()
endfunction()
