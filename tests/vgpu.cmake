# Tests of the virtual GPU. vgpu_test(<module> [source...]): unit/test_<module>.c becomes the CTest
# unit.<module>, linked to vgpu_core.
function(vgpu_test module)
  add_executable(test_${module} unit/test_${module}.c ${ARGN})
  target_compile_definitions(test_${module} PRIVATE TEST_ROOT="${CMAKE_SOURCE_DIR}")
  target_link_libraries(test_${module} PRIVATE vgpu_core warpjudge_warnings warpjudge_sanitizers
                                               warpjudge_cmocka)
  add_test(NAME unit.${module} COMMAND test_${module})
  set_tests_properties(unit.${module} PROPERTIES LABELS kind:unit TIMEOUT 60)
endfunction()

vgpu_test(lex)
vgpu_test(parse)
vgpu_test(verify)
vgpu_test(opform)
vgpu_test(print)
vgpu_test(fatbin)

# The runtime API. cudart_test(<module>): unit/test_cudart_<module>.c becomes unit.cudart_<module>, linked
# to the virtual GPU's libcudart.so.13 and to nothing else of this tree, so that the same program runs with
# the real library on a machine with a GPU: LD_PRELOAD=.../libcudart.so.13 test_cudart_<module>
if(TARGET vgpu_cudart)
  add_library(cudart_bench STATIC unit/cudart_bench.c)
  target_include_directories(cudart_bench PUBLIC unit)
  target_include_directories(cudart_bench SYSTEM PUBLIC ${WARPJUDGE_CUDA_INCLUDE})
  target_link_libraries(cudart_bench PUBLIC warpjudge_cmocka vgpu_cudart)
  target_link_libraries(cudart_bench PRIVATE warpjudge_warnings warpjudge_sanitizers)
  function(cudart_test module)
    add_executable(test_cudart_${module} unit/test_cudart_${module}.c)
    target_link_libraries(test_cudart_${module} PRIVATE cudart_bench warpjudge_warnings
                                                        warpjudge_sanitizers)
    add_test(NAME unit.cudart_${module} COMMAND test_cudart_${module})
    set_tests_properties(unit.cudart_${module} PROPERTIES LABELS kind:unit TIMEOUT 60)
  endfunction()
  cudart_test(memory)
  cudart_test(launch)
  cudart_test(stream)
  cudart_test(graph)
  cudart_test(device)
  cudart_test(error)
  cudart_test(register)

  # Some hundreds of answers against those of the real library: unit/cudart_answers.gold was recorded by the
  # same program on a GPU.
  add_executable(
    cudart_answers
    unit/cudart_answers.c
    unit/cudart_answers_device.c
    unit/cudart_answers_fault.c
    unit/cudart_answers_graph.c
    unit/cudart_answers_launch.c
    unit/cudart_answers_memory.c
    unit/cudart_answers_ptx.c
    unit/cudart_answers_stream.c)
  target_include_directories(cudart_answers SYSTEM PRIVATE ${WARPJUDGE_CUDA_INCLUDE})
  target_link_libraries(cudart_answers PRIVATE vgpu_cudart warpjudge_warnings warpjudge_sanitizers)
  add_test(NAME unit.cudart_answers
           COMMAND ${WARPJUDGE_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/unit/cudart_answers.py
                   $<TARGET_FILE:cudart_answers> ${CMAKE_CURRENT_SOURCE_DIR}/unit/cudart_answers.gold
                   ${CMAKE_CURRENT_SOURCE_DIR}/unit/cudart_answers.differs)
  set_tests_properties(unit.cudart_answers PROPERTIES LABELS kind:unit TIMEOUT 120)

  # Every exported name, against api.def and, where it is installed, the real library.
  find_library(WARPJUDGE_REAL_CUDART NAMES libcudart.so.13 HINTS /usr/local/cuda/lib64
               PATH_SUFFIXES lib64 targets/x86_64-linux/lib)
  add_test(NAME unit.cudart_names
           COMMAND ${WARPJUDGE_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/unit/cudart_names.py
                   ${CMAKE_NM} $<TARGET_FILE:vgpu_cudart> ${CMAKE_SOURCE_DIR}/vgpu/cudart/api.def
                   ${WARPJUDGE_REAL_CUDART})
  set_tests_properties(unit.cudart_names PROPERTIES LABELS kind:unit TIMEOUT 30)
endif()

# docs/ptx-coverage.md is generated from ops.def and the list of forms in use; a stale page fails.
add_test(NAME lint.ptx_coverage
         COMMAND ptxcoverage --check ${CMAKE_SOURCE_DIR}/tests/ptx/forms.tsv
                 ${CMAKE_SOURCE_DIR}/docs/ptx-coverage.md)
set_tests_properties(lint.ptx_coverage PROPERTIES LABELS kind:lint TIMEOUT 30)
