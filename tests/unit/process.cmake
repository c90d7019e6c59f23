add_executable(process_tests ${CMAKE_CURRENT_LIST_DIR}/child_test.cpp ${CMAKE_CURRENT_LIST_DIR}/proc_files_test.cpp
                             ${CMAKE_CURRENT_LIST_DIR}/watchdog_test.cpp)
target_link_libraries(process_tests PRIVATE tracer_process tracer_test_main)
catch_discover_tests(process_tests TEST_PREFIX "unit: process: " PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 60)
