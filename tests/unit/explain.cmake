add_executable(explain_unit_tests story_test.cpp)
target_link_libraries(explain_unit_tests PRIVATE tracer_explain tracer_test_main)
catch_discover_tests(explain_unit_tests TEST_PREFIX "explain unit: " PROPERTIES TIMEOUT 60)
