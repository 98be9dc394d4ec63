/* Rows of numbers as codes of 8 bits, for products with int8 weights, compiled once for each kind of processor; see
   search_kernels.c. */

INLINE float NAME(number)(const char *x, int64_t i, const int half) {
    return half ? widen(((const uint16_t *)x)[i]) : ((const float *)x)[i];
}

INLINE void NAME(write_codes)(int64_t rows, int64_t dim, const char *x, uint8_t *codes, float *largest,
                              const int half) {
    for (int64_t row = 0; row < rows; row++, x += dim * (half ? 2 : 4), codes += dim) {
        float most = 0.0f;
        for (int64_t i = 0; i < dim; i++) {
            const float size = fabsf(NAME(number)(x, i, half));
            most = size > most ? size : most;
        }
        largest[row] = most;
        const float scale = most > 0.0f ? 127.0f / most : 0.0f;
        for (int64_t i = 0; i < dim; i++) codes[i] = (uint8_t)(int32_t)(NAME(number)(x, i, half) * scale + 128.5f);
    }
}

INLINE void NAME(write_scaled)(int64_t rows, int64_t dim, const float *product, const float *largest,
                               const float *bias, int relu, char *output, const int half) {
    const float least = relu ? 0.0f : -INFINITY;
    for (int64_t row = 0; row < rows; row++, product += dim, output += dim * (half ? 2 : 4)) {
        for (int64_t i = 0; i < dim; i++) {
            float sum = product[i] * largest[row] + bias[i];
            sum = sum > least ? sum : least;
            if (half) {
                ((uint16_t *)output)[i] = round_to_half(sum);
            } else {
                ((float *)output)[i] = sum;
            }
        }
    }
}

static void NAME(quantise_rows)(int half, int64_t rows, int64_t dim, const char *x, uint8_t *codes, float *largest) {
    if (half) {
        NAME(write_codes)(rows, dim, x, codes, largest, 1);
    } else {
        NAME(write_codes)(rows, dim, x, codes, largest, 0);
    }
}

static void NAME(scale_rows)(int half, int64_t rows, int64_t dim, const float *product, const float *largest,
                             const float *bias, int relu, char *output) {
    if (half) {
        NAME(write_scaled)(rows, dim, product, largest, bias, relu, output, 1);
    } else {
        NAME(write_scaled)(rows, dim, product, largest, bias, relu, output, 0);
    }
}
