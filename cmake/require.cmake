# SPDX-License-Identifier: MIT
# incipit_require(PACKAGE DEBIAN_PACKAGE [arguments of find_package]): finds it, or says how to get it.
macro(incipit_require package debian)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "incipit needs ${package}, which is not here.\n"
                        "On Debian and Ubuntu install it with: apt-get install ${debian}")
  endif()
endmacro()
