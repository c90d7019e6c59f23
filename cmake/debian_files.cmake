# CPack runs this when the files of all components are in their places, and before it packs them: what Debian's policy
# wants of each package beyond what `cmake --install` does.
get_filename_component(source ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(package ${CPACK_COMPONENTS_ALL})
  set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${package}/usr/share)
  set(doc ${share}/doc/${package})
  file(READ ${source}/LICENSE license)
  file(WRITE ${doc}/copyright "${license}")
  file(REMOVE ${doc}/LICENSE)
  file(WRITE ${doc}/changelog "tracer (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * The changes are in CHANGELOG.md, which package tracer has.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  file(GLOB manuals ${share}/man/man*/*)
  execute_process(COMMAND gzip --best --no-name ${manuals} ${doc}/changelog COMMAND_ERROR_IS_FATAL ANY)
  set(static_libraries)
  if(package STREQUAL tracer)
    set(static_libraries "# Debian's static libraries are used, so that no start waits for the dynamic linker.
tracer: embedded-library *
")
  endif()
  file(WRITE ${share}/lintian/overrides/${package} "${static_libraries}# Who builds a package for others says so: cmake -DTRACER_MAINTAINER='NAME <ADDRESS>'
${package}: bogus-mail-host *
${package}: bogus-mail-host-in-debian-changelog *
")
endforeach()
