/* The sums of products of 8-bit integers, compiled once for each way to multiply them; see kernels.c for NAME, LANES, and
   WITH_DPBUSD, which is 1 where an instruction of VNNI multiplies and adds. */

/* BLOCK_ROWS rows × VECTORS vectors of sums are in registers. ZERO is the integer of the number 0. */
#if LANES == 16
#define BLOCK_ROWS 6
#define VECTORS 4
#define ZERO 128
#else
#define BLOCK_ROWS 4
#define VECTORS 2
#define ZERO 0
#endif

typedef int32_t NAME(Ints) __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

/* Add the products of four integers of a row, and four weights, to each of the sums. */
INLINE NAME(Ints) NAME(add_products)(NAME(Ints) sum, NAME(Ints) of_row, NAME(Ints) weight) {
#if LANES == 16
    return (NAME(Ints))_mm512_dpbusd_epi32((__m512i)sum, (__m512i)of_row, (__m512i)weight);
#else /* one of the factors must be without a sign: |weight| times the integer of the row with the sign of the weight */
    const __m256i size = _mm256_abs_epi8((__m256i)weight), x = _mm256_sign_epi8((__m256i)of_row, (__m256i)weight);
#if WITH_DPBUSD
    return (NAME(Ints))_mm256_dpbusd_avx_epi32((__m256i)sum, size, x);
#else /* sums of two products are at most 2 · 127², less than 2¹⁵ */
    return sum + (NAME(Ints))_mm256_madd_epi16(_mm256_maddubs_epi16(size, x), _mm256_set1_epi16(1));
#endif
#endif
}

/* Compute the sums of `rows` rows, at most BLOCK_ROWS, with a panel of weights: (rows, PANEL).

   Nothing else is computed here, so that the compiler keeps the sums in registers. */
INLINE void NAME(panel_sums)(const uint8_t *integers, int64_t inputs, const int8_t *weight, const int32_t *start,
                             int32_t *found, const int rows) {
    for (int64_t column = 0; column < PANEL; column += VECTORS * LANES) {
        NAME(Ints) sums[BLOCK_ROWS][VECTORS];
#pragma GCC unroll 8
        for (int row = 0; row < rows; row++)
#pragma GCC unroll 8
            for (int i = 0; i < VECTORS; i++)
                sums[row][i] = ZERO ? *(const NAME(Ints) *)(start + column + i * LANES) : (NAME(Ints)){0};
        for (int64_t k = 0; k < inputs; k += 4) {
            NAME(Ints) of_inputs[VECTORS];
#pragma GCC unroll 8
            for (int i = 0; i < VECTORS; i++)
                of_inputs[i] = *(const NAME(Ints) *)(weight + k * PANEL + 4 * (column + i * LANES));
#pragma GCC unroll 8
            for (int row = 0; row < rows; row++) {
                int32_t four;
                memcpy(&four, integers + row * inputs + k, sizeof four);
                const NAME(Ints) all = (NAME(Ints)){0} + four;
#pragma GCC unroll 8
                for (int i = 0; i < VECTORS; i++)
                    sums[row][i] = NAME(add_products)(sums[row][i], all, of_inputs[i]);
            }
        }
#pragma GCC unroll 8
        for (int row = 0; row < rows; row++)
#pragma GCC unroll 8
            for (int i = 0; i < VECTORS; i++)
                *(NAME(Ints) *)(found + row * PANEL + column + i * LANES) = sums[row][i];
    }
}

#define PANEL_SUMS_OF(rows)                                                                                     \
    static __attribute__((noinline)) void NAME(panel_sums_##rows)(                                              \
        const uint8_t *integers, int64_t inputs, const int8_t *weight, const int32_t *start, int32_t *found) {     \
        NAME(panel_sums)(integers, inputs, weight, start, found, rows);                                            \
    }
PANEL_SUMS_OF(1) PANEL_SUMS_OF(2) PANEL_SUMS_OF(3) PANEL_SUMS_OF(4)
#if BLOCK_ROWS == 6
PANEL_SUMS_OF(5) PANEL_SUMS_OF(6)
#endif
#undef PANEL_SUMS_OF

/* The functions by their number of rows. */
static PanelSums *const NAME(panels)[] = {
    NAME(panel_sums_1), NAME(panel_sums_2), NAME(panel_sums_3), NAME(panel_sums_4),
#if BLOCK_ROWS == 6
    NAME(panel_sums_5), NAME(panel_sums_6),
#endif
};
