/* The dot products of many vectors of a row with one other vector of the row, compiled once for each kind of processor;
   see kernels.c. */

static void NAME(products_of_pairs)(int64_t rows, int64_t count, int64_t dim, const uint16_t *many, const float *one,
                                    float *products) {
    for (int64_t row = 0; row < rows; row++, one += dim)
        for (int64_t i = 0; i < count; i++, many += dim) {
            float sum = 0.0f;
            for (int64_t k = 0; k < dim; k++) sum += widen(many[k]) * one[k];
            *products++ = sum;
        }
}
