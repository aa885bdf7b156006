# SPDX-License-Identifier: MIT
# cmake -DHOW=... -DSOURCE_DIR=... -DBUILD_DIR=... -DWORK_DIR=... -DCXX=... -P consume.cmake
# Builds and runs the consumer project. With find_package, installs first and then moves the installed tree.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(work ${WORK_DIR}/${HOW}${OWN_EIGEN})
file(REMOVE_RECURSE ${work})
file(MAKE_DIRECTORY ${work})

if(HOW MATCHES "find_package")
  run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${work}/first)
  file(RENAME ${work}/first ${work}/moved)
  file(GLOB_RECURSE package ${work}/moved/*.cmake)
  if(NOT package)
    message(FATAL_ERROR "nothing was installed")
  endif()
  foreach(file IN LISTS package)
    file(STRINGS ${file} absolute REGEX "[\" ;](${SOURCE_DIR}|${BUILD_DIR}|${work}|/usr/|/home/|/opt/)")
    if(absolute)
      message(FATAL_ERROR "absolute path in ${file}: ${absolute}")
    endif()
  endforeach()
endif()

run(${CMAKE_COMMAND} -G Ninja -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${work}/build -DHOW=${HOW} -DOWN_EIGEN=${OWN_EIGEN}
    -DINCIPIT_SOURCE_DIR=${SOURCE_DIR} -DCMAKE_PREFIX_PATH=${work}/moved -DCMAKE_CXX_COMPILER=${CXX})
run(${CMAKE_COMMAND} --build ${work}/build)
run(${work}/build/app)
