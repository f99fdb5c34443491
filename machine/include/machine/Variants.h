// Hot loops are compiled twice where the loader can choose: for any x86-64, and for those with the feature named.
#pragma once

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define VARIANTS(feature, ...) __attribute__((target_clones("default", feature), optimize("O3", ##__VA_ARGS__)))
#else
#define VARIANTS(feature, ...)
#endif
#define INLINE inline __attribute__((always_inline))
