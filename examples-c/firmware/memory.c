/*
 * The mem functions, which compilers and libpodrank.a call, also by the names of ARM's run-time ABI. A C library has them:
 * copy this file if you have none. Compile it with -ffreestanding and -fno-tree-loop-distribute-patterns, or memcpy becomes a call to memcpy.
 */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *to, const void *from, size_t len);
void *memmove(void *to, const void *from, size_t len);
void *memset(void *to, int byte, size_t len);
int memcmp(const void *a, const void *b, size_t len);

void *memcpy(void *to, const void *from, size_t len) {
    unsigned char *t = to;
    const unsigned char *f = from;
    while (len-- > 0)
        *t++ = *f++;
    return to;
}

void *memmove(void *to, const void *from, size_t len) {
    unsigned char *t = to;
    const unsigned char *f = from;
    /* Not by memcpy: another one, such as a ROM's, may copy from the end. */
    if ((uintptr_t)to < (uintptr_t)from)
        for (; len > 0; len--)
            *t++ = *f++;
    else
        while (len-- > 0)
            t[len] = f[len];
    return to;
}

void *memset(void *to, int byte, size_t len) {
    unsigned char *t = to;
    while (len-- > 0)
        *t++ = (unsigned char)byte;
    return to;
}

int memcmp(const void *a, const void *b, size_t len) {
    const unsigned char *p = a, *q = b;
    for (; len > 0; len--, p++, q++)
        if (*p != *q)
            return *p < *q ? -1 : 1;
    return 0;
}

#ifdef __arm__
/* 4 or 8 in a name means that pointers are aligned to that many bytes. */
#define COPIES(name) void *name(void *to, const void *from, size_t len) __attribute__((alias("memcpy")))
#define MOVES(name) void *name(void *to, const void *from, size_t len) __attribute__((alias("memmove")))
#define SETS(name) void name(void *to, size_t len, int byte)
#define CLEARS(name) void name(void *to, size_t len)

COPIES(__aeabi_memcpy);
COPIES(__aeabi_memcpy4);
COPIES(__aeabi_memcpy8);
MOVES(__aeabi_memmove);
MOVES(__aeabi_memmove4);
MOVES(__aeabi_memmove8);
SETS(__aeabi_memset);
SETS(__aeabi_memset4) __attribute__((alias("__aeabi_memset")));
SETS(__aeabi_memset8) __attribute__((alias("__aeabi_memset")));
CLEARS(__aeabi_memclr);
CLEARS(__aeabi_memclr4) __attribute__((alias("__aeabi_memclr")));
CLEARS(__aeabi_memclr8) __attribute__((alias("__aeabi_memclr")));

SETS(__aeabi_memset) {
    memset(to, byte, len);
}

CLEARS(__aeabi_memclr) {
    memset(to, 0, len);
}
#endif
