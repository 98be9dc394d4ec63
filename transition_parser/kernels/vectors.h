/* Operations on vectors, compiled once for each kind of processor; see variant.h for NAME and LANES. */

typedef float NAME(Floats) __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef uint32_t NAME(Bits) __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

/* Two vectors, which are read and written together.

   From bfloat16, `a` gets the even numbers and `b` the odd numbers. From float, `a` gets the first numbers and `b` the
   last numbers. Sums over products do not depend on the order of numbers. */
typedef struct {
    NAME(Floats) a, b;
} NAME(Pair);

INLINE NAME(Pair) NAME(load)(const char *from, const int half) {
    if (half) {
        NAME(Bits) bits = *(const NAME(Bits) *)from;
        return (NAME(Pair)){(NAME(Floats))(bits << 16), (NAME(Floats))(bits & 0xffff0000u)};
    }
    return (NAME(Pair)){*(const NAME(Floats) *)from, *((const NAME(Floats) *)from + 1)};
}

INLINE NAME(Bits) NAME(rounded)(NAME(Floats) x) { /* rounds to the nearest bfloat16, ties to even */
    NAME(Bits) bits = (NAME(Bits))x;
    return bits + 0x7fffu + (bits >> 16 & 1u);
}

INLINE void NAME(store)(char *to, NAME(Pair) x, const int half) {
    if (half) {
        *(NAME(Bits) *)to = (NAME(rounded)(x.a) >> 16) | (NAME(rounded)(x.b) & 0xffff0000u);
    } else {
        *(NAME(Floats) *)to = x.a;
        *((NAME(Floats) *)to + 1) = x.b;
    }
}

/* Replace negative numbers by 0. */
INLINE NAME(Floats) NAME(positive)(NAME(Floats) x) {
    return (NAME(Floats))((NAME(Bits))x & (NAME(Bits))(x > 0.0f));
}

/* Compute the sum of the numbers of each of four vectors. */
INLINE void NAME(sums)(NAME(Floats) w, NAME(Floats) x, NAME(Floats) y, NAME(Floats) z, float *sums) {
#if LANES == 16
    w = SHUFFLE(w, x, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
        SHUFFLE(w, x, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
    y = SHUFFLE(y, z, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
        SHUFFLE(y, z, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
    w = SHUFFLE(w, y, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
        SHUFFLE(w, y, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
    w += SHUFFLE(w, w, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
    w += SHUFFLE(w, w, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
#elif LANES == 8
    w = SHUFFLE(w, x, 0, 1, 2, 3, 8, 9, 10, 11) + SHUFFLE(w, x, 4, 5, 6, 7, 12, 13, 14, 15);
    y = SHUFFLE(y, z, 0, 1, 2, 3, 8, 9, 10, 11) + SHUFFLE(y, z, 4, 5, 6, 7, 12, 13, 14, 15);
    w = SHUFFLE(w, y, 0, 1, 4, 5, 8, 9, 12, 13) + SHUFFLE(w, y, 2, 3, 6, 7, 10, 11, 14, 15);
    w += SHUFFLE(w, w, 1, 0, 3, 2, 5, 4, 7, 6);
#else
    w = SHUFFLE(w, x, 0, 1, 4, 5) + SHUFFLE(w, x, 2, 3, 6, 7);
    y = SHUFFLE(y, z, 0, 1, 4, 5) + SHUFFLE(y, z, 2, 3, 6, 7);
    w = SHUFFLE(w, y, 0, 2, 4, 6) + SHUFFLE(w, y, 1, 3, 5, 7);
#endif
    for (int i = 0; i < 4; i++) sums[i] = w[LANES / 4 * i];
}

/* Return exp(x) for x ≤ 0, with an absolute error below 2e-7.

   The result is at least 2^-100, so that quotients of a sum are not denormal numbers, which are slow. */
INLINE float NAME(exp_of)(float x) {
    x = fmaxf(x * 1.44269504f, -100.0f);
    /* The nearest integer, because x ≤ 0; floorf is slow without SSE 4.1. */
    const int32_t whole = (int32_t)(x - 0.5f);
    const float part = x - (float)whole;
    float power = 1.5403530e-4f;
    power = power * part + 1.3333558e-3f;
    power = power * part + 9.6181291e-3f;
    power = power * part + 5.5504109e-2f;
    power = power * part + 2.4022651e-1f;
    power = power * part + 6.9314718e-1f;
    power = power * part + 1.0f;
    int32_t bits = (whole + 127) << 23;
    float scale;
    __builtin_memcpy(&scale, &bits, sizeof scale);
    return power * scale;
}

/* Return 1 if all numbers are finite, else 0. The bits are compared, because the compiler assumes that floats are
   finite. */
INLINE int NAME(finite)(const float *x, int64_t count) {
    uint32_t infinite = 0;
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits;
        __builtin_memcpy(&bits, x + i, sizeof bits);
        infinite |= (bits & 0x7f800000u) == 0x7f800000u;
    }
    return !infinite;
}
