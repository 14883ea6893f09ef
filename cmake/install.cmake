# Install and export of octep::octep, for find_package(octep) and for pkg-config. Everything is text and the same on
# every machine, hence share/ and not lib/.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(octep_config_dir ${CMAKE_INSTALL_DATADIR}/cmake/octep)

install(TARGETS octep EXPORT octepTargets)
install(DIRECTORY include/octep TYPE INCLUDE COMPONENT development FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(EXPORT octepTargets NAMESPACE octep:: DESTINATION ${octep_config_dir} COMPONENT development)

write_basic_package_version_file(${PROJECT_BINARY_DIR}/octepConfigVersion.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
configure_file(cmake/octepConfig.cmake.in ${PROJECT_BINARY_DIR}/octepConfig.cmake @ONLY)
configure_file(cmake/octep.pc.in ${PROJECT_BINARY_DIR}/octep.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/octepConfig.cmake ${PROJECT_BINARY_DIR}/octepConfigVersion.cmake
  DESTINATION ${octep_config_dir} COMPONENT development)
install(FILES ${PROJECT_BINARY_DIR}/octep.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig COMPONENT development)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
