add_executable(replay_tests replay_test.cpp)
target_include_directories(replay_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(replay_tests PRIVATE tracer_replay tracer_tables tracer_sysc tracer_test_main)
catch_discover_tests(replay_tests TEST_PREFIX "replay: " PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 60)
