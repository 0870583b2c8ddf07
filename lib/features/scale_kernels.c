/* SPDX-License-Identifier: BSD-3-Clause */
/* What columns and words make of a row's entries: the loops of scale.h that are worth vectors. Compiled once per
 * instruction set, as linear_kernels.c is, whose table has them. */
#include <string.h>
#ifdef __AVX__
#include <immintrin.h>
#endif

#include "numeric/linear_ops.h"
#include "numeric/log_near.h"
#include "features/scale.h"

#ifndef LINEAR_ISA
#define LINEAR_ISA plain
#define LINEAR_VECTOR 16
#endif

#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)
#define NAME(noun) JOIN(noun, LINEAR_ISA)
#define INLINE static inline __attribute__((always_inline))

void NAME(scale_words)(const struct scale *c, const hunch_vec *x, float *ret);
void NAME(scale_numbers)(const struct scale *c, const hunch_vec *x, float *ret);
size_t NAME(scale_nonzeros)(const float *row, size_t n, uint32_t *ret_index, float *ret_value);

typedef float some_numbers __attribute__((vector_size(LINEAR_VECTOR), aligned(sizeof(float)), may_alias));
typedef int32_t some_bits __attribute__((vector_size(LINEAR_VECTOR)));
#define SOME (LINEAR_VECTOR / sizeof(float))

DEFINE_LOG_NEAR(some_logs, some_numbers, some_bits)

/* rows: as scale.word has them */
INLINE some_numbers some_words(some_numbers x, some_numbers rows, float all, float min)
{
    some_numbers seen = (some_numbers)((some_bits)rows & 0x7fffffff), one = (some_numbers){0} + 1;
    some_bits small = x < SCALE_WHOLE_FROM, never = seen < one, words = seen < min;
    some_bits integer = __builtin_convertvector((some_numbers)((some_bits)x & small), some_bits);
    some_bits counts = ((x == __builtin_convertvector(integer, some_numbers)) | ~small) & (x > 0) & (rows >= 0);
    some_numbers times = (some_numbers)(((some_bits)(1 + some_logs(x)) & counts) | ((some_bits)x & ~counts));
    seen = (some_numbers)(((some_bits)one & never) | ((some_bits)seen & ~never));
    return (some_numbers)((some_bits)(times * some_logs(1 + all / seen)) & words);
}

/* Of the words j .., in how many rows each is; their columns, which are to take them in, are fetched. */
INLINE some_numbers some_rows(const struct scale *c, const uint32_t *j, size_t n, bool known)
{
    _Alignas(LINEAR_VECTOR) float rows[SOME] = {0};
    const float unknown = scale_word_unknown(c);
    const size_t columns = c->described > c->columns ? c->described : c->columns;
    for (size_t a = 0; a < n; a++) {
        rows[a] = known || j[a] < columns ? c->word[j[a]] : unknown;
        __builtin_prefetch(known || j[a] < columns ? &c->column[j[a]] : NULL, 1);
    }
    return *(const some_numbers *)rows;
}

void NAME(scale_words)(const struct scale *c, const hunch_vec *x, float *ret)
{
    const float all = (float)c->known, min = (float)scale_always(c);
    size_t i = 0;
    for (; x->index && i + SOME <= x->n && x->index[i + SOME - 1] < c->columns; i += SOME)
        *(some_numbers *)(ret + i) =
            some_words(*(const some_numbers *)(x->value + i), some_rows(c, x->index + i, SOME, true), all, min);
    for (; i < x->n; i++) {
        uint32_t j = x->index ? x->index[i] : (uint32_t)i;
        some_numbers value = {x->value[i]};
        ret[i] = some_words(value, some_rows(c, &j, 1, false), all, min)[0];
    }
}

/* known: all of its columns were seen before. dense: they follow one another. */
INLINE void numbers_write(const struct scale *c, const hunch_vec *x, float *ret, bool known, bool dense)
{
    for (size_t i = 0; i < x->n; i++) {
        uint32_t j = dense ? (uint32_t)i : x->index[i];
        ret[i] = scale_number(c, known ? &c->column[j] : scale_column(c, j), x->value[i]);
    }
}

void NAME(scale_numbers)(const struct scale *c, const hunch_vec *x, float *ret)
{
    if (scale_columns(x) > c->columns)
        numbers_write(c, x, ret, false, !x->index);
    else if (x->index)
        numbers_write(c, x, ret, true, false);
    else
        numbers_write(c, x, ret, true, true);
}

/* Those of SOME numbers, the first of which is the i-th, go to `at`; returns how many there are. */
#if LINEAR_VECTOR >= 64
INLINE size_t some_nonzeros(const float *row, size_t i, uint32_t *ret_index, float *ret_value, size_t at)
{
    const __m512i first = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    __m512 x = _mm512_loadu_ps(row + i);
    __mmask16 which = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_NEQ_UQ);
    __m512i places = _mm512_add_epi32(first, _mm512_set1_epi32((int)i));
    _mm512_storeu_si512(ret_index + at, _mm512_maskz_compress_epi32(which, places));
    _mm512_storeu_ps(ret_value + at, _mm512_maskz_compress_ps(which, x));
    return (size_t)__builtin_popcount(which);
}
#elif LINEAR_VECTOR >= 32
INLINE size_t some_nonzeros(const float *row, size_t i, uint32_t *ret_index, float *ret_value, size_t at)
{
    size_t n = 0;
    unsigned which =
        (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(row + i), _mm256_setzero_ps(), _CMP_NEQ_UQ));
    for (; which; which &= which - 1, n++) { /* a number is read before its place may be taken */
        size_t from = i + (size_t)__builtin_ctz(which);
        ret_value[at + n] = row[from];
        ret_index[at + n] = (uint32_t)from;
    }
    return n;
}
#else
INLINE size_t some_nonzeros(const float *row, size_t i, uint32_t *ret_index, float *ret_value, size_t at)
{
    some_numbers x = *(const some_numbers *)(row + i);
    size_t n = 0;
    for (size_t a = 0; a < SOME; a++) {
        ret_index[at + n] = (uint32_t)(i + a);
        ret_value[at + n] = x[a];
        n += x[a] != 0;
    }
    return n;
}
#endif

size_t NAME(scale_nonzeros)(const float *row, size_t n, uint32_t *ret_index, float *ret_value)
{
    size_t at = 0, i = 0;
    for (; i + SOME <= n; i += SOME)
        at += some_nonzeros(row, i, ret_index, ret_value, at);
    for (; i < n; i++) {
        float x = row[i];
        ret_index[at] = (uint32_t)i;
        ret_value[at] = x;
        at += x != 0;
    }
    return at;
}
