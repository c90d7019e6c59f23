add_executable(library_tests free_space_test.cpp probe_arguments_test.cpp)
target_link_libraries(library_tests PRIVATE tracer_library tracer_test_main)
catch_discover_tests(library_tests TEST_PREFIX "unit: ")
