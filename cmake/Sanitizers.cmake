# The interface target that instruments a build; empty unless a preset asks for it.
add_library(warpjudge_sanitizers INTERFACE)
if(WARPJUDGE_SANITIZE)
  target_compile_options(warpjudge_sanitizers INTERFACE -fsanitize=${WARPJUDGE_SANITIZE}
                                                        -fno-omit-frame-pointer
                                                        -fno-sanitize-recover=all)
  target_link_options(warpjudge_sanitizers INTERFACE -fsanitize=${WARPJUDGE_SANITIZE})
endif()
if(WARPJUDGE_FUZZERS) # the libraries too: libFuzzer is blind to code that it does not see covered
  target_compile_options(warpjudge_sanitizers INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(WARPJUDGE_COVERAGE)
  target_compile_options(warpjudge_sanitizers INTERFACE --coverage)
  target_link_options(warpjudge_sanitizers INTERFACE --coverage)
endif()
