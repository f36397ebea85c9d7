# System libraries, each named with its Debian package when it is missing.
function(warpjudge_library target name header package)
  set(names ${name})
  if(WARPJUDGE_STATIC_DEPS AND ARGC GREATER 4)
    set(names lib${name}.a)
  endif()
  find_library(WARPJUDGE_${target}_LIBRARY NAMES ${names})
  find_path(WARPJUDGE_${target}_INCLUDE NAMES ${header})
  if(NOT WARPJUDGE_${target}_LIBRARY OR NOT WARPJUDGE_${target}_INCLUDE)
    message(FATAL_ERROR "${name} (${header}) not found; on Debian: apt-get install ${package}")
  endif()
  add_library(warpjudge_${target} INTERFACE)
  target_include_directories(warpjudge_${target} SYSTEM
                             INTERFACE ${WARPJUDGE_${target}_INCLUDE})
  target_link_libraries(warpjudge_${target} INTERFACE ${WARPJUDGE_${target}_LIBRARY})
endfunction()

warpjudge_library(jansson jansson jansson.h libjansson-dev STATIC_POSSIBLE)
warpjudge_library(ffi ffi ffi.h libffi-dev STATIC_POSSIBLE)
warpjudge_library(xxhash xxhash xxhash.h libxxhash-dev STATIC_POSSIBLE)

# Needed by the unit tests only: ./judge builds without it.
find_library(WARPJUDGE_cmocka_LIBRARY cmocka)
find_path(WARPJUDGE_cmocka_INCLUDE cmocka.h)
if(WARPJUDGE_cmocka_LIBRARY AND WARPJUDGE_cmocka_INCLUDE)
  warpjudge_library(cmocka cmocka cmocka.h libcmocka-dev)
endif()
