# SPDX-License-Identifier: MIT
# Installs the headers and a relocatable package: find_package(incipit) gives incipit::incipit,
# find_package(incipit COMPONENTS all) gives incipit::all too.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/incipit)

install(TARGETS incipit EXPORT incipit-targets FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS incipit_all EXPORT incipit-all-targets)
install(EXPORT incipit-targets NAMESPACE incipit:: DESTINATION ${package_dir})
install(EXPORT incipit-all-targets NAMESPACE incipit:: DESTINATION ${package_dir})

configure_package_config_file(cmake/incipit-config.cmake.in ${PROJECT_BINARY_DIR}/incipit-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/incipit-config-version.cmake
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/incipit-config.cmake ${PROJECT_BINARY_DIR}/incipit-config-version.cmake
        DESTINATION ${package_dir})
