# The interface target that every C target of the tree links: warnings, _GNU_SOURCE, asserts on.
add_library(warpjudge_warnings INTERFACE)
target_compile_definitions(warpjudge_warnings INTERFACE _GNU_SOURCE)
target_compile_options(
  warpjudge_warnings
  INTERFACE
    -UNDEBUG # asserts stay on in every build type
    -Wall
    -Wextra
    -Wpedantic
    -Wshadow
    -Wconversion
    -Wsign-conversion
    -Wstrict-prototypes
    -Wmissing-prototypes
    -Wswitch-enum
    -Wvla
    -Wdouble-promotion
    -Wundef
    -Wwrite-strings
    -Wcast-qual
    -Wformat=2
    -Wimplicit-fallthrough)
if(WARPJUDGE_WERROR)
  target_compile_options(warpjudge_warnings INTERFACE -Werror)
endif()
if(WARPJUDGE_TIDY)
  find_program(CLANG_TIDY NAMES clang-tidy clang-tidy-14 REQUIRED)
  set(CMAKE_C_CLANG_TIDY ${CLANG_TIDY} --quiet)
endif()
