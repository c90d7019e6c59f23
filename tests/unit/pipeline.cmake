add_executable(pipeline_tests backlog_test.cpp captured_memory_test.cpp json_text_test.cpp pipeline_json_test.cpp pipeline_tampering_test.cpp pipeline_text_test.cpp sink_test.cpp spell_test.cpp summary_test.cpp)
target_include_directories(pipeline_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(pipeline_tests PRIVATE tracer_pipeline tracer_bpf tracer_sysc tracer_test_main)
catch_discover_tests(pipeline_tests TEST_PREFIX "pipeline: " PROPERTIES TIMEOUT 60)
