# SPDX-License-Identifier: MIT
# cmake -DSOURCE_DIR=... -DWORK_DIR=... -DCXX=... -P missing.cmake
# Without a package that it needs, the configure step must stop and name the Debian package to install.
foreach(pair Eigen3=libeigen3-dev xtensor=libxtensor-dev nlohmann_json=nlohmann-json3-dev Boost=libboost-test-dev
             CLI11=libcli11-dev)
  string(REGEX MATCH "(.*)=(.*)" _ ${pair})
  set(package ${CMAKE_MATCH_1})
  set(debian ${CMAKE_MATCH_2})
  file(REMOVE ${WORK_DIR}/CMakeCache.txt)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -G Ninja -S ${SOURCE_DIR} -B ${WORK_DIR} -DCMAKE_DISABLE_FIND_PACKAGE_${package}=ON
            -DCMAKE_CXX_COMPILER=${CXX}
    RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(status EQUAL 0)
    message(FATAL_ERROR "configures without ${package}")
  endif()
  if(NOT said MATCHES "apt-get install ${debian}")
    message(FATAL_ERROR "does not say how to get ${package}: ${said}")
  endif()
endforeach()
