# Where the registers of a call are, against the system's own headers; what stands under a breakpoint.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_executable(registers_tests ${CMAKE_CURRENT_LIST_DIR}/registers_x86_64_test.cpp
                                 ${CMAKE_CURRENT_LIST_DIR}/code_x86_64_test.cpp)
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  add_executable(registers_tests ${CMAKE_CURRENT_LIST_DIR}/breakpoint_aarch64_test.cpp)
endif()
if(TARGET registers_tests)
  target_link_libraries(registers_tests PRIVATE tracer_arch tracer_test_main)
  catch_discover_tests(registers_tests TEST_PREFIX "registers: " PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 60)
endif()
