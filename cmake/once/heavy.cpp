// SPDX-License-Identifier: MIT
#define INCIPIT_ONCE_EXTERN
#include "heavy.hpp"
