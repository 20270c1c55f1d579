# memsweep_unity(TARGET FILES): compiles so many files of a target at a time, where the preset asks for it. The headers of fmt,
# nlohmann/json and the standard library take most of the time of a small file, and are then read once for all of them.
# Names of two files that clash in an unnamed namespace are refused: what has the same name there is one thing in one place.
# MEMSWEEP_APART names the files that are compiled by themselves: names clash in trace_test.cpp; the allocators that
# hole_placement.cpp simulates take 18 ns an operation, and twice that where GCC's limits of inlining, which hold for all that is
# compiled at once, leave their small functions out of line.
set(MEMSWEEP_APART
  hole_placement.cpp
  trace_test.cpp)
function(memsweep_unity target files)
  if(NOT MEMSWEEP_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
  get_target_property(sources ${target} SOURCES)
  foreach(file IN LISTS sources)
    cmake_path(GET file FILENAME name)
    if(name IN_LIST MEMSWEEP_APART)
      set_source_files_properties("${file}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()

# What reads files, prints reports and tests: nobody waits for it at run time. It is compiled at -Og, which takes a fifth
# to a quarter less of the processor's time than -O1, and all of a target at a time, which takes a third of what a dozen
# at a time take. Where the code is hot, GCC's limits of inlining would then be shared among too many files.
function(memsweep_seldom_hot target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>)
  memsweep_unity(${target} 64)
endfunction()

# memsweep_library(NAME [SELDOM_HOT [HOT files...]] [LOOPS] [ROOMS folders...] [LINK targets...]): one library per folder, of every
# .cpp beside its CMakeLists.txt and in the rooms below it. HOT are the files, as patterns, of a library that is seldom hot which are
# optimised all the same. LOOPS over much memory are optimised in a sanitizer's build too, whose tests wait for them.
function(memsweep_library name)
  cmake_parse_arguments(arg "SELDOM_HOT;LOOPS" "" "HOT;ROOMS;LINK" ${ARGN})
  set(patterns "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  foreach(room IN LISTS arg_ROOMS)
    list(APPEND patterns "${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.cpp")
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  set(hot "")
  if(arg_HOT)
    list(TRANSFORM arg_HOT PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
    file(GLOB hot CONFIGURE_DEPENDS ${arg_HOT})
    list(REMOVE_ITEM sources ${hot})
  endif()
  add_library(memsweep_${name} ${sources})
  # Our warnings and sanitizers are for this build: programs that link an installed library choose their own.
  target_link_libraries(memsweep_${name} PUBLIC $<BUILD_INTERFACE:memsweep_flags> ${arg_LINK})
  target_compile_features(memsweep_${name} PUBLIC cxx_std_20)
  if(arg_SELDOM_HOT)
    memsweep_seldom_hot(memsweep_${name})
  else()
    memsweep_unity(memsweep_${name} 12)
  endif()
  if(hot)
    add_library(memsweep_${name}_hot OBJECT ${hot})
    if(BUILD_SHARED_LIBS)
      set_target_properties(memsweep_${name}_hot PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endif()
    target_link_libraries(memsweep_${name}_hot PRIVATE memsweep_flags ${arg_LINK})
    memsweep_unity(memsweep_${name}_hot 12)
    target_sources(memsweep_${name} PRIVATE $<TARGET_OBJECTS:memsweep_${name}_hot>)
  endif()
  if(arg_LOOPS AND MEMSWEEP_SANITIZE)
    target_compile_options(memsweep_${name} PRIVATE -O1)
    if(hot)
      target_compile_options(memsweep_${name}_hot PRIVATE -O1)
    endif()
  endif()
endfunction()

# memsweep_test(FOLDER RINGS unit [machine] LINK targets...): one executable per folder, one ctest per ring.
# An empty ring fails, so that a test cannot vanish unseen.
function(memsweep_test folder)
  cmake_parse_arguments(arg "" "" "RINGS;LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp")
  add_executable(test_${folder} ${sources})
  target_link_libraries(test_${folder} PRIVATE memsweep_test_support ${arg_LINK})
  memsweep_seldom_hot(test_${folder})
  add_dependencies(test_programs test_${folder})
  # Rates of simulated comparisons and searches [campaign] are for the release build: instrumented they take ten times as
  # long, in code that other tests run, too. ThreadSanitizer lets no signal handler jump out of an access that faulted.
  if(MEMSWEEP_SANITIZE)
    set(left_out "~[campaign]")
  endif()
  if(MEMSWEEP_SANITIZE STREQUAL "thread")
    string(APPEND left_out "~[traps]")
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
