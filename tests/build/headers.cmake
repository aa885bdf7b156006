# SPDX-License-Identifier: MIT
# Header hygiene. Each header in a file of its own, twice; all headers in two linked files, one of them among hostile
# macros; both files again as one unity file (U50).
set(folder ${CMAKE_CURRENT_BINARY_DIR}/headers)

set(alone)
set(all_headers "")
foreach(path IN LISTS headers)
  cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/include OUTPUT_VARIABLE header)
  string(REPLACE "/" "__" name ${header})
  file(CONFIGURE OUTPUT ${folder}/${name}.cpp CONTENT "#include <@header@>\n#include <@header@>\n" @ONLY)
  if(header MATCHES "/.*/") # the umbrellas are compiled below
    list(APPEND alone ${folder}/${name}.cpp)
  endif()
  string(APPEND all_headers "#include <${header}>\n")
endforeach()

add_library(headers_alone OBJECT ${alone} return_types.cpp)
target_link_libraries(headers_alone PRIVATE incipit_own)
target_compile_options(headers_alone PRIVATE -O0)
target_precompile_headers(headers_alone PRIVATE <Eigen/Core>) # all of them begin with it; it is half of the time

file(CONFIGURE OUTPUT ${folder}/first.cpp CONTENT "@all_headers@int second();\nint main() { return second(); }\n" @ONLY)
file(CONFIGURE OUTPUT ${folder}/second.cpp CONTENT "#include \"@CMAKE_CURRENT_SOURCE_DIR@/hostile_macros.hpp\"\n
@all_headers@int second();\nint second() { return 0; }\n" @ONLY)
foreach(program two_files unity_file)
  add_executable(headers_${program} ${folder}/first.cpp ${folder}/second.cpp)
  target_link_libraries(headers_${program} PRIVATE incipit_own)
  target_compile_options(headers_${program} PRIVATE -O0)
  add_test(NAME headers_${program}_u50 COMMAND headers_${program})
endforeach()
set_target_properties(headers_unity_file PROPERTIES UNITY_BUILD ON)
