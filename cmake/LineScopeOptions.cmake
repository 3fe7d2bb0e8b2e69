# Build-wide options and flags.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

option(LINESCOPE_TESTS "Build the tests" ON)
option(LINESCOPE_FUZZERS "Build the libFuzzer targets (needs clang)" OFF)
option(LINESCOPE_WERROR "Treat warnings as errors" OFF)
set(LINESCOPE_SANITIZE "" CACHE STRING "Sanitizers to build with, e.g. address,undefined or thread")
include(CMakeDependentOption)
cmake_dependent_option(LINESCOPE_STATIC "Link libraries into the binary where there are archives of them: it starts sooner"
  ON "NOT LINESCOPE_SANITIZE" OFF)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # One clone's objects serve another.
  set(launcher "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${CCACHE_PROGRAM}")
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

add_library(linescope_flags INTERFACE)
target_compile_options(linescope_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wconversion -Wshadow -Wno-sign-conversion>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # gcc 12 sees overlaps in std::string's own code that are not there.
  target_compile_options(linescope_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(LINESCOPE_WERROR)
  target_compile_options(linescope_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(LINESCOPE_SANITIZE)
  add_compile_options(-fsanitize=${LINESCOPE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${LINESCOPE_SANITIZE})
endif()
if(LINESCOPE_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
