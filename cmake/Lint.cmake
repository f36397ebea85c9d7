# The lint.* tests: what a reader or a tool can check without running the product. A missing tool makes
# its test Skipped with the package named; ./judge test installs the tools first.
function(lint_test name tool package)
  if(tool)
    add_test(NAME lint.${name} COMMAND ${ARGN})
  else()
    add_test(NAME lint.${name} COMMAND sh -c "echo 'skipped: apt-get install ${package}'; exit 77")
  endif()
  set_tests_properties(
    lint.${name} PROPERTIES LABELS kind:lint TIMEOUT 120 SKIP_RETURN_CODE 77 WORKING_DIRECTORY
                            ${CMAKE_SOURCE_DIR})
endfunction()

find_program(LINT_CLANG_FORMAT NAMES clang-format clang-format-14)
find_program(LINT_SHELLCHECK shellcheck)
find_program(LINT_CODESPELL codespell)
find_program(LINT_BLACK black)
find_program(LINT_MYPY mypy)

set(lint_dir ${CMAKE_SOURCE_DIR}/tests/lint)
foreach(script IN ITEMS layers names tables file_length words)
  lint_test(${script} ${WARPJUDGE_PYTHON} python3 ${WARPJUDGE_PYTHON} -B ${lint_dir}/${script}.py
            ${CMAKE_SOURCE_DIR})
endforeach()
lint_test(selftest ${WARPJUDGE_PYTHON} python3 ${WARPJUDGE_PYTHON} -B ${lint_dir}/selftest.py)
lint_test(clang_format "${LINT_CLANG_FORMAT}" clang-format ${WARPJUDGE_PYTHON} -B
          ${lint_dir}/run_tool.py ${CMAKE_SOURCE_DIR} c ${LINT_CLANG_FORMAT} --dry-run -Werror)
lint_test(shellcheck "${LINT_SHELLCHECK}" shellcheck ${WARPJUDGE_PYTHON} -B ${lint_dir}/run_tool.py
          ${CMAKE_SOURCE_DIR} sh ${LINT_SHELLCHECK})
lint_test(codespell "${LINT_CODESPELL}" codespell ${WARPJUDGE_PYTHON} -B ${lint_dir}/run_tool.py
          ${CMAKE_SOURCE_DIR} text ${LINT_CODESPELL} -I ${lint_dir}/codespell_words.txt)
lint_test(black "${LINT_BLACK}" black ${WARPJUDGE_PYTHON} -B ${lint_dir}/run_tool.py
          ${CMAKE_SOURCE_DIR} py ${LINT_BLACK} --check --quiet --line-length 100)
lint_test(mypy "${LINT_MYPY}" mypy ${LINT_MYPY} --cache-dir ${CMAKE_BINARY_DIR}/mypy_cache gen)

# The Python part's own tests.
add_test(NAME gen.pytest COMMAND ${WARPJUDGE_PYTHON} -B -m pytest -q -p no:cacheprovider tests/unit/gen)
set_tests_properties(gen.pytest PROPERTIES LABELS kind:unit TIMEOUT 300 WORKING_DIRECTORY
                                           ${CMAKE_SOURCE_DIR})
