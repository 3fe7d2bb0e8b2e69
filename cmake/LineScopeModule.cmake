# linescope_module(NAME deps...): the static library ls_NAME from src/NAME/*.cc, including `src/` as the root of includes.
# A module without .cc files becomes an interface library. The edges between modules are checked by tools/check_modules.
function(linescope_module name)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc" "${CMAKE_CURRENT_SOURCE_DIR}/layout/*.cc")
  if(sources)
    add_library(ls_${name} STATIC ${sources})
    target_include_directories(ls_${name} PUBLIC "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(ls_${name} PUBLIC ${ARGN} PRIVATE linescope_flags)
  else()
    add_library(ls_${name} INTERFACE)
    target_include_directories(ls_${name} INTERFACE "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(ls_${name} INTERFACE ${ARGN})
  endif()
endfunction()

# linescope_quick_to_compile(TARGET): in a sanitized build, where optimising takes longer than all else. For what no fuzzer
# spends its time in.
function(linescope_quick_to_compile target)
  if(LINESCOPE_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

# linescope_unit_test(MODULE libs...): the executable MODULE_test from tests/unit/MODULE/*_test.cc.
function(linescope_unit_test module)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/unit/${module}/*_test.cc")
  if(NOT sources)
    return()
  endif()
  add_executable(${module}_test ${sources})
  target_include_directories(${module}_test PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${module}_test PRIVATE ls_${module} ${ARGN} GTest::gmock GTest::gtest_main linescope_flags)
  gtest_discover_tests(${module}_test TEST_PREFIX "${module}." PROPERTIES LABELS unit DISCOVERY_TIMEOUT 60)
  linescope_quick_to_compile(${module}_test)
  add_dependencies(unit_tests ${module}_test)
endfunction()

# linescope_link_runtime(TARGET): the executable brings the C++ library and fmt along; the C library alone is the system's.
function(linescope_link_runtime target)
  target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -Wl,--as-needed -Wl,--gc-sections)
  set(source "${PROJECT_SOURCE_DIR}/third_party/fmt/archive.cc")
  if(NOT DEFINED LINESCOPE_FMT_ARCHIVE)
    set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
    try_compile(LINESCOPE_FMT_ARCHIVE "${CMAKE_BINARY_DIR}/fmt_archive" SOURCES "${source}" LINK_LIBRARIES fmt::fmt)
  endif()
  # Its objects come before the shared library, of which nothing is needed then.
  if(LINESCOPE_FMT_ARCHIVE)
    target_sources(${target} PRIVATE "${source}")
  endif()
endfunction()
