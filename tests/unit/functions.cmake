# The parts of function tracing that need no tracee.
add_executable(function_tests ${CMAKE_CURRENT_LIST_DIR}/call_stack_test.cpp)
target_link_libraries(function_tests PRIVATE tracer_functions tracer_test_main)
catch_discover_tests(function_tests TEST_PREFIX "unit: functions: " PROPERTIES TIMEOUT 60)
