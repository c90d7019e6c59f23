add_executable(cli_tests cli_help.cpp cli_ltrace.cpp cli_parser.cpp filter_path.cpp filter_sets.cpp)
target_include_directories(cli_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(cli_tests PRIVATE tracer_cli tracer_filter tracer_test_main)
catch_discover_tests(cli_tests TEST_PREFIX "cli: " PROPERTIES SKIP_RETURN_CODE 77)
