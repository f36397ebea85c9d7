# The Python that generates cases and runs the Python tests: the first with NumPy. Python's own CMake
# module would ask for development headers, which nothing here needs.
function(python_has_numpy result candidate)
  execute_process(
    COMMAND ${candidate} -c "import numpy"
    RESULT_VARIABLE failed
    OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()
find_program(
  WARPJUDGE_PYTHON
  NAMES python3 /usr/bin/python3
  NAMES_PER_DIR
  VALIDATOR python_has_numpy)
if(NOT WARPJUDGE_PYTHON)
  message(FATAL_ERROR "no Python 3 with NumPy found; on Debian: apt-get install python3-numpy")
endif()
