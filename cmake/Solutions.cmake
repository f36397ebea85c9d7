# One CTest per solution, baseline and reject: the file is found by a glob, so that adding a solution is
# adding one file. The judge's exit code decides; it compiles the file itself.
file(
  GLOB solution_files
  CONFIGURE_DEPENDS
  RELATIVE ${CMAKE_SOURCE_DIR}/problems
  ${CMAKE_SOURCE_DIR}/problems/*/*.cu
  ${CMAKE_SOURCE_DIR}/problems/*/baselines/*.cu
  ${CMAKE_SOURCE_DIR}/problems/*/rejects/*.cu)
list(FILTER solution_files EXCLUDE REGEX "/\\.") # editors' backups
list(SORT solution_files)

# Above the judge's own limits: those must end a test, not CTest.
set(SOLUTION_TIMEOUT_S 900)

function(problem_tests problem)
  add_test(NAME cases.${problem} COMMAND judge gen --quiet ${problem})
  set_tests_properties(
    cases.${problem} PROPERTIES FIXTURES_SETUP cases.${problem} LABELS
                                "problem:${problem};kind:cases" TIMEOUT ${SOLUTION_TIMEOUT_S})
  add_test(NAME check.${problem} COMMAND judge check --data ${problem})
  set_tests_properties(
    check.${problem} PROPERTIES FIXTURES_REQUIRED cases.${problem} LABELS
                                "problem:${problem};kind:check" TIMEOUT ${SOLUTION_TIMEOUT_S})
endfunction()

# Seconds, roughly: ctest -j starts the long ones first, also where it has no times of an earlier run.
set(COST_decay_attention 60)
set(COST_topk 40)
set(COST_reduction 20)

function(solution_test file)
  if(NOT file MATCHES "^([a-z0-9_]+)/((baselines|rejects)/)?([A-Za-z0-9_]+)\\.cu$")
    message(FATAL_ERROR "problems/${file}: folders and files are named in letters, digits and _")
  endif()
  set(problem ${CMAKE_MATCH_1})
  set(kind accept)
  if(CMAKE_MATCH_3)
    string(REGEX REPLACE "s$" "" kind ${CMAKE_MATCH_3})
  endif()
  string(REGEX REPLACE "\\.cu$" "" solution ${file})
  string(REPLACE "/" "." name ${solution})
  add_test(NAME ${name} COMMAND judge run --quiet ${solution})
  set_tests_properties(
    ${name}
    PROPERTIES LABELS "problem:${problem};kind:${kind};backend:${WARPJUDGE_TEST_BACKEND}"
               FIXTURES_REQUIRED cases.${problem}
               SKIP_RETURN_CODE 77
               TIMEOUT ${SOLUTION_TIMEOUT_S})
  if(DEFINED COST_${problem})
    set_tests_properties(${name} PROPERTIES COST ${COST_${problem}})
  endif()
  if(NOT WARPJUDGE_TEST_BACKEND STREQUAL "auto")
    set_property(TEST ${name} PROPERTY ENVIRONMENT WARPJUDGE_BACKEND=${WARPJUDGE_TEST_BACKEND})
  endif()
  if(WARPJUDGE_TEST_BACKEND STREQUAL "gpu")
    set_property(TEST ${name} PROPERTY RESOURCE_LOCK gpu)
  endif()
endfunction()

if(NOT solution_files)
  message(FATAL_ERROR "no solution found below problems/")
endif()
set(problems)
foreach(file IN LISTS solution_files)
  string(REGEX REPLACE "/.*" "" problem ${file})
  list(APPEND problems ${problem})
  solution_test(${file})
endforeach()
list(REMOVE_DUPLICATES problems)
foreach(problem IN LISTS problems)
  problem_tests(${problem})
endforeach()
