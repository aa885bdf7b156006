// SPDX-License-Identifier: MIT
// Every allocation of the program passes here. Operator new of the standard library ends in malloc or aligned_alloc, so
// counting these counts it too. Under a sanitizer, which owns malloc, its hook is used instead.
#include "support/allocation_count.hpp"

#include <cerrno>

namespace {
thread_local std::size_t made = 0;
}

namespace incipit::test {
std::size_t allocations() noexcept { return made; }
}  // namespace incipit::test

#if defined(__has_feature)
#define INCIPIT_TEST_HAS_FEATURE(x) __has_feature(x)
#else
#define INCIPIT_TEST_HAS_FEATURE(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || INCIPIT_TEST_HAS_FEATURE(address_sanitizer) || \
    INCIPIT_TEST_HAS_FEATURE(thread_sanitizer) || INCIPIT_TEST_HAS_FEATURE(memory_sanitizer)

extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*, std::size_t),
                                                         void (*)(const volatile void*));
namespace {
const int installed = __sanitizer_install_malloc_and_free_hooks([](const volatile void*, std::size_t) { ++made; },
                                                                [](const volatile void*) {});
}

#else

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t n) { return ++made, __libc_malloc(n); }
void* calloc(std::size_t n, std::size_t size) { return ++made, __libc_calloc(n, size); }
void* realloc(void* p, std::size_t n) { return ++made, __libc_realloc(p, n); }
void* memalign(std::size_t alignment, std::size_t n) { return ++made, __libc_memalign(alignment, n); }
void* aligned_alloc(std::size_t alignment, std::size_t n) { return ++made, __libc_memalign(alignment, n); }
int posix_memalign(void** p, std::size_t alignment, std::size_t n) {
  ++made;
  *p = __libc_memalign(alignment, n);
  return *p ? 0 : ENOMEM;
}
}

#endif
