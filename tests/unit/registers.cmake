# Where the registers of a call are, against the system's own headers.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_executable(registers_tests ${CMAKE_CURRENT_LIST_DIR}/registers_x86_64_test.cpp)
  target_link_libraries(registers_tests PRIVATE tracer_arch tracer_test_main)
  catch_discover_tests(registers_tests TEST_PREFIX "registers: " PROPERTIES TIMEOUT 60)
endif()
