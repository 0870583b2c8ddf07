/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/decimal.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

const double decimal_powers[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* A number taken apart: mantissa * 10^exponent, or a little more when digits were left out. */
struct parts {
    uint64_t mantissa; /* below 10^15, so that mantissa + 1 is an exact double too */
    int64_t exponent;
    bool cut;
};

static bool is_digit(char c)
{
    return (unsigned)(c - '0') < 10;
}

/* Digits into the mantissa as long as there is room; counts those that were read and those that found none. */
static const char *digits_take(const char *p, struct parts *parts, int64_t *read, int64_t *dropped)
{
    for (;;) {
        uint64_t word = decimal_load(p);
        unsigned count = decimal_count(word);
        if (count == 8 && parts->mantissa < 10000000) {
            parts->mantissa = parts->mantissa * 100000000 + decimal_value(word, 8);
            *read += 8;
            p += 8;
            continue;
        }
        if (count == 0)
            return p;
        for (unsigned i = 0; i < count; i++, p++, ++*read) {
            unsigned digit = (unsigned)(*p - '0');
            if (parts->mantissa < 100000000000000) {
                parts->mantissa = parts->mantissa * 10 + digit;
            } else {
                ++*dropped;
                parts->cut |= digit != 0;
            }
        }
    }
}

/* The exponent after 'e', clamped to what can matter. NULL: no digits. */
static const char *exponent_read(const char *p, int64_t *ret)
{
    bool minus = *p == '-';
    p += *p == '-' || *p == '+';
    if (!is_digit(*p))
        return NULL;
    int64_t exponent = 0;
    for (; is_digit(*p); p++)
        if (exponent < INT64_C(1000000000000))
            exponent = exponent * 10 + (*p - '0');
    *ret = minus ? -exponent : exponent;
    return p;
}

/* Where the number ends, or NULL. */
static const char *parts_read(const char *p, struct parts *ret)
{
    struct parts parts = {0, 0, false};
    int64_t whole = 0, fraction = 0, dropped = 0, exponent = 0;
    p = digits_take(p, &parts, &whole, &dropped);
    if (*p == '.')
        p = digits_take(p + 1, &parts, &fraction, &dropped);
    if (whole + fraction == 0)
        return NULL;
    if ((*p | 0x20) == 'e') {
        p = exponent_read(p + 1, &exponent);
        if (!p)
            return NULL;
    }
    parts.exponent = exponent - fraction + dropped;
    *ret = parts;
    return p;
}

/* mantissa * 10^exponent to within two units of the last place, exactly rounded when |exponent| <= 22. */
static double scale(double mantissa, int64_t exponent)
{
    if (exponent > 22)
        return mantissa * decimal_powers[22] * decimal_powers[exponent - 22];
    if (exponent >= 0)
        return mantissa * decimal_powers[exponent];
    if (exponent >= -22)
        return mantissa / decimal_powers[-exponent];
    return mantissa / decimal_powers[22] / decimal_powers[-exponent - 22];
}

/* Bounds below and above the number; where both round to the same float, that is the answer. */
static bool parts_round(const struct parts *parts, float *ret)
{
    if (parts->mantissa == 0 && !parts->cut) {
        *ret = 0;
        return true;
    }
    if (parts->exponent > 44 || parts->exponent < -44)
        return false;
    bool exact = parts->exponent >= -22 && parts->exponent <= 22;
    double low = scale((double)parts->mantissa, parts->exponent);
    double high = parts->cut ? scale((double)(parts->mantissa + 1), parts->exponent) : low;
    if (!exact) {
        low *= 1 - 0x1p-50;
        high *= 1 + 0x1p-50;
    }
    float a, b;
    if (low < 0x1p-126 || high > 0x1.fffffep127 || !decimal_narrow(low, &a) || !decimal_narrow(high, &b) || a != b)
        return false;
    *ret = a;
    return true;
}

/* strtof in the C locale, whatever the program's is. glibc keeps that locale ready: nothing is allocated. */
static float read_slowly(const char *text)
{
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!locale)
        return strtof(text, NULL);
    float value = strtof_l(text, NULL, locale);
    freelocale(locale);
    return value;
}

const char *decimal_read_any(const char *text, float *ret)
{
    bool minus = *text == '-';
    const char *digits = text + (*text == '-' || *text == '+');
    struct parts parts;
    float value;
    const char *end = parts_read(digits, &parts);
    *ret = 0;
    if (!end)
        return NULL;
    if (!parts_round(&parts, &value))
        value = read_slowly(digits);
    *ret = minus ? -value : value;
    return end;
}
