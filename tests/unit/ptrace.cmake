# The ptrace engine's own decisions, without a tracee.
add_executable(ptrace_tests ${CMAKE_CURRENT_LIST_DIR}/poll_tuner_test.cpp)
target_link_libraries(ptrace_tests PRIVATE tracer_ptrace tracer_test_main)
catch_discover_tests(ptrace_tests TEST_PREFIX "unit: ptrace: " PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 60)
