// SPDX-License-Identifier: MIT
/// @file
/// @brief Version, and the tag that keeps differently compiled translation units apart.
#pragma once

// GCC 12 warns falsely about the undefined lanes of its own AVX-512 intrinsics, once Eigen's reductions are inlined.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <Eigen/Core>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/// The version, "major.minor.patch".
#define INCIPIT_VERSION "0.1.0"
#define INCIPIT_VERSION_MAJOR 0  ///< changes with incompatible interfaces
#define INCIPIT_VERSION_MINOR 1  ///< changes with new features
#define INCIPIT_VERSION_PATCH 0  ///< changes with corrections

// Kernels and Eigen's heap layout depend on the instruction set. Everything of ours lives in an inline namespace named
// after it, so two files compiled for different instruction sets either use
// their own copies or do not link.
/// @cond
#if defined(__AVX512F__) && defined(__FMA__)
#define INCIPIT_ISA avx512_
#elif defined(__AVX2__) && defined(__FMA__)
#define INCIPIT_ISA avx2_
#elif defined(__AVX__)
#define INCIPIT_ISA avx_
#else
#define INCIPIT_ISA base_
#endif
#define INCIPIT_DETAIL_CAT2(a, b) a##b
#define INCIPIT_DETAIL_CAT(a, b) INCIPIT_DETAIL_CAT2(a, b)
/// @endcond
#ifndef INCIPIT_ABI
/// Name of the inline namespace: instruction set and alignment of Eigen's allocations.
#define INCIPIT_ABI INCIPIT_DETAIL_CAT(INCIPIT_ISA, EIGEN_MAX_ALIGN_BYTES)
#endif
