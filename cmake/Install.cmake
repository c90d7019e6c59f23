# What is installed, in two components, and how CPack makes Debian packages of them (make deb).
include(GNUInstallDirs)

# The program.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME tracer)
install(TARGETS tracer RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET manual AND TARGET completions)
  add_dependencies(program manual completions)
  install(FILES ${CMAKE_BINARY_DIR}/man/tracer.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  set(completions ${CMAKE_BINARY_DIR}/completions)
  install(FILES ${completions}/tracer.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tracer)
  install(FILES ${completions}/_tracer DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
  install(FILES ${completions}/tracer.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
else()
  message(STATUS "tracer.1 and the completions are left out: without an emulator, this build cannot run what writes them")
endif()
# README.md links to the other papers.
install(FILES README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

# What writers of descriptions need.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME tracer-dev)
install(TARGETS tracer-sysc RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES man/tracer-sysc.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES man/tracer-sys.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5)
install(DIRECTORY syscalls DESTINATION ${CMAKE_INSTALL_DATADIR}/tracer PATTERN CMakeLists.txt EXCLUDE)

# Packages; include(CPack) reads all of these.
set(TRACER_MAINTAINER "The tracer authors <tracer@localhost>" CACHE STRING "Who packages name as their maintainer")
set(CPACK_PACKAGE_CONTACT ${TRACER_MAINTAINER})
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL tracer tracer-dev)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# A program that needs no other file: one archive for any system.
if(TRACER_LINK STREQUAL static)
  if(ZYDIS_SOURCE)
    install(FILES ${ZYDIS_SOURCE}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME LICENSE.zydis)
  endif()
  set(CPACK_GENERATOR TGZ)
  set(CPACK_PACKAGE_FILE_NAME tracer-${PROJECT_VERSION}-static-${CMAKE_SYSTEM_PROCESSOR})
  include(CPack)
  return()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TRACER_PACKAGE_NAME tracer)
set(CPACK_DEBIAN_TRACER_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TRACER_DESCRIPTION "It takes the options of strace and writes its text, counts calls inside
the kernel with BPF, traces functions of libraries, writes JSON, and explains
why a program failed.")
# Loaded by the options that need them.
set(recommended ${ZYDIS_PACKAGE})
if(LIBUNWIND_LIBRARY)
  list(APPEND recommended libunwind8)
endif()
if(SQLITE_LIBRARY)
  list(APPEND recommended ${SQLITE_PACKAGE})
endif()
list(JOIN recommended ", " CPACK_DEBIAN_TRACER_PACKAGE_RECOMMENDS)
set(CPACK_DEBIAN_TRACER-DEV_PACKAGE_NAME tracer-dev)
set(CPACK_DEBIAN_TRACER-DEV_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TRACER-DEV_PACKAGE_RECOMMENDS tracer)
set(CPACK_DEBIAN_TRACER-DEV_DESCRIPTION "This package has the descriptions that the program was built from,
tracer-sysc, which checks and formats such descriptions, and the manual of
their language.")
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/debian_files.cmake)
include(CPack)
