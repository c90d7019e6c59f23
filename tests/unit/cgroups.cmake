add_executable(cgroups_tests ${CMAKE_CURRENT_LIST_DIR}/cgroups_test.cpp)
target_link_libraries(cgroups_tests PRIVATE tracer_proc_cgroups tracer_test_main)
catch_discover_tests(cgroups_tests TEST_PREFIX "unit: cgroups: " PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 60)
