add_executable(stack_unit_tests stack_test.cpp)
target_link_libraries(stack_unit_tests PRIVATE tracer_stack tracer_pipeline tracer_test_main)
catch_discover_tests(stack_unit_tests TEST_PREFIX "stack unit: " PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 60)
