# What stands for the BPF engine where it cannot be built.
add_executable(without_bpf_tests without_bpf_test.cpp ${PROJECT_SOURCE_DIR}/src/bpf/none.cpp)
target_include_directories(without_bpf_tests PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(without_bpf_tests PRIVATE tracer_process tracer_spec tracer_test_main)
catch_discover_tests(without_bpf_tests TEST_PREFIX "without bpf: " PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 60)
