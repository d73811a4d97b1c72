# How everything is compiled.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON) # for clang-tidy
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_DEBUG "-g1 -O0")

set(PERIGEE_SANITIZE "" CACHE STRING "Sanitizers for everything, as in address,undefined")
# No product and sum may melt into one rounding: all processors give the same bits.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Werror -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # At -O2 and more, g++ 12 sees an overlap inside `"x" + std::string` (its bug 105329).
  add_compile_options(-Wno-restrict)
endif()
if(PERIGEE_SANITIZE)
  # g++ 12 sees uninitialised values in <regex> and <functional> once they are instrumented.
  add_compile_options(-fsanitize=${PERIGEE_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -Wno-maybe-uninitialized)
  add_link_options(-fsanitize=${PERIGEE_SANITIZE})
endif()

option(PERIGEE_FUZZ "Build the targets of tests/fuzz for libFuzzer: needs clang" OFF)
if(PERIGEE_FUZZ)
  # clang 14 does not know all of g++'s warnings, and has others of its own.
  add_compile_options(-fsanitize=fuzzer-no-link -Wno-error -Wno-unknown-warning-option)
endif()

option(PERIGEE_CCACHE "Compile through ccache where it is installed" ON)
find_program(CCACHE_PROGRAM ccache)
if(PERIGEE_CCACHE AND CCACHE_PROGRAM)
  # Relative to the source tree, so that several build folders share what was compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
endif()

# Under sanitizers an actor takes over half a minute to compile optimised, while code
# that computes is too slow to test if it is not.
function(perigee_compute target)
  if(PERIGEE_SANITIZE)
    target_compile_options(${target} PRIVATE -O2)
  elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${target} PRIVATE -O3)
  endif()
endfunction()

# A test program for ctest: `perigee_test(name sources...)`; link what it tests beside.
function(perigee_test name)
  add_executable(${name} ${ARGN})
  target_compile_definitions(${name} PRIVATE PERIGEE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE Catch2::Catch2WithMain)
  add_test(NAME ${name} COMMAND ${name})
endfunction()
