/* Rows of numbers as codes of 8 bits, for products with int8 weights, compiled once for each kind of processor; see
   search_kernels.c. */

/* Numbers as small as 1e-30 count as zeros, so that no quotient is infinite. */
#define TINY 1e-30f
/* The bits of infinity, and of what is not a number. */
#define INFINITE 0x7f800000u
#define NO_NUMBER 0x7fc00000u

INLINE float NAME(number)(const char *x, int64_t i, const int half) {
    return half ? widen(((const uint16_t *)x)[i]) : ((const float *)x)[i];
}

static void NAME(quantise_rows)(int64_t rows, int64_t dim, const char *x, uint8_t *codes, float *largest,
                                const int half) {
    for (int64_t row = 0; row < rows; row++, x += dim * (half ? 2 : 4), codes += dim) {
        uint32_t bits = 0; /* sizes of floats have the order of their bits; those that are not finite come last */
        for (int64_t i = 0; i < dim; i++) {
            const float number = NAME(number)(x, i, half);
            uint32_t size;
            __builtin_memcpy(&size, &number, sizeof size);
            size &= 0x7fffffffu;
            bits = size > bits ? size : bits;
        }
        const int is_finite = bits < INFINITE;
        if (!is_finite) bits = NO_NUMBER; /* the products become no numbers, too */
        __builtin_memcpy(largest + row, &bits, sizeof bits);
        if (!is_finite) {
            memset(codes, 128, (size_t)dim);
            continue;
        }
        const float scale = largest[row] > TINY ? 127.0f / largest[row] : 0.0f;
        for (int64_t i = 0; i < dim; i++) codes[i] = (uint8_t)(int32_t)(NAME(number)(x, i, half) * scale + 128.5f);
    }
}

static void NAME(scale_rows)(int64_t rows, int64_t dim, const float *product, const float *largest, const float *bias,
                             int relu, char *output, const int half) {
    const int32_t dropped = relu ? -1 : 0; /* the bits of negative sums that are dropped */
    for (int64_t row = 0; row < rows; row++, product += dim, output += dim * (half ? 2 : 4)) {
        for (int64_t i = 0; i < dim; i++) {
            float sum = product[i] * largest[row] + bias[i];
            int32_t bits; /* changed as bits, because the compiler assumes that floats are finite */
            __builtin_memcpy(&bits, &sum, sizeof bits);
            bits &= ~(bits >> 31 & dropped);
            __builtin_memcpy(&sum, &bits, sizeof bits);
            if (half) {
                ((uint16_t *)output)[i] = round_to_half(sum);
            } else {
                ((float *)output)[i] = sum;
            }
        }
    }
}
