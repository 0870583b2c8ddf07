/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/number.h"

#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"

/* --- reading --- */

static bool is_digit(char c)
{
    return (unsigned)(c - '0') < 10;
}

/* Where the number ends, or NULL. With up to 15 digits and a small exponent *mantissa and *exponent are all of it;
 * otherwise *exponent is out of range. */
static const char *number_scan(const char *p, uint64_t *mantissa, int64_t *exponent)
{
    int digits = 0;
    int64_t fraction = 0, power = 0;
    bool seen = false;
    *mantissa = 0;
    for (; is_digit(*p) || (*p == '.' && !fraction); p++) {
        if (*p == '.') {
            fraction = 1;
            continue;
        }
        seen = true;
        digits += (digits && digits < 20) || *p != '0';
        if (digits <= 15)
            *mantissa = *mantissa * 10 + (uint64_t)(*p - '0');
        fraction += fraction > 0;
    }
    if (!seen)
        return NULL;
    if ((*p | 0x20) == 'e') {
        bool minus = p[1] == '-';
        p += 1 + (p[1] == '-' || p[1] == '+');
        if (!is_digit(*p))
            return NULL;
        for (; is_digit(*p); p++)
            power = power < INT64_C(1000000000000) ? power * 10 + (*p - '0') : power;
        power = minus ? -power : power;
    }
    *exponent = digits <= 15 ? power - (fraction ? fraction - 1 : 0) : INT64_MAX;
    return p;
}

/* strtod in the C locale, whatever the program's is. glibc keeps that locale ready: nothing is allocated. */
static double read_slowly(const char *text)
{
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double value = strtod_l(text, NULL, locale);
    freelocale(locale);
    return value;
}

const char *number_read(const char *text, double *ret)
{
    uint64_t mantissa;
    int64_t exponent;
    const char *digits = text + (*text == '-' || *text == '+'), *end = number_scan(digits, &mantissa, &exponent);
    double value;
    if (!end)
        return NULL;
    if (exponent >= -22 && exponent <= 0) /* both exact doubles: one rounding */
        value = (double)mantissa / decimal_powers[-exponent];
    else if (exponent > 0 && exponent <= 22)
        value = (double)mantissa * decimal_powers[exponent];
    else
        value = read_slowly(digits);
    *ret = *text == '-' ? -value : value;
    return end;
}

bool number_is(const char *text, double *ret)
{
    double value;
    const char *end = number_read(text, &value);
    if (!end || *end || !isfinite(value))
        return false;
    *ret = value;
    return true;
}

/* --- printing --- */

/* printf writes the locale's decimal point, which may be any text. */
size_t number_print_digits(double value, int digits, char ret[NUMBER_TEXT])
{
    char text[64];
    size_t n = 0;
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (!isfinite(value))
        return (size_t)snprintf(ret, NUMBER_TEXT, "%s", text);
    for (const char *p = text; *p; p++) {
        if (is_digit(*p) || *p == '-' || *p == '+' || *p == 'e')
            ret[n++] = *p;
        else if (n && ret[n - 1] != '.')
            ret[n++] = '.';
    }
    ret[n] = '\0';
    return n;
}

size_t number_print_whole(uint64_t value, char ret[NUMBER_TEXT])
{
    char reversed[24];
    size_t n = 0;
    do
        reversed[n++] = (char)('0' + value % 10);
    while (value /= 10);
    for (size_t i = 0; i < n; i++)
        ret[i] = reversed[n - 1 - i];
    ret[n] = '\0';
    return n;
}

/* mantissa / 10^places without trailing zeros. */
static size_t fixed_print(uint64_t mantissa, int places, char *text)
{
    while (places > 0 && mantissa % 10 == 0) {
        mantissa /= 10;
        places--;
    }
    uint64_t unit = (uint64_t)decimal_powers[places], fraction = mantissa % unit;
    size_t n = number_print_whole(mantissa / unit, text);
    if (places == 0)
        return n;
    text[n++] = '.';
    for (int i = places - 1; i >= 0; i--) {
        text[n + (size_t)i] = (char)('0' + fraction % 10);
        fraction /= 10;
    }
    text[n + (size_t)places] = '\0';
    return n + (size_t)places;
}

/* The shortest of 15 to 17 digits that reads back, of a number from 0.001 up to 1000000, as printf rounds: with all of
 * its bits, size = m / 2^k. False: not that simple. */
static bool print_exactly(double size, char *text, size_t *ret)
{
    int exponent, whole = 0;
    if (!(size >= 1e-3 && size < 1e6))
        return false;
    uint64_t m = (uint64_t)ldexp(frexp(size, &exponent), 53);
    int k = 53 - exponent;
    if (m == UINT64_C(1) << 52) /* a power of two: the numbers below it lie closer */
        return false;
    while (size >= decimal_powers[whole])
        whole++;
    for (int zeros = 0; whole <= 0 && size * decimal_powers[zeros + 1] < 1; zeros++)
        whole--;
    for (int digits = 15; digits <= 17; digits++) {
        unsigned __int128 power = (uint64_t)decimal_powers[digits - whole], scaled = m * power;
        unsigned __int128 half = (unsigned __int128)1 << (k - 1), rest = scaled & (2 * half - 1);
        uint64_t mantissa = (uint64_t)(scaled >> k);
        mantissa += rest > half || (rest == half && mantissa % 2);
        unsigned __int128 back = (unsigned __int128)mantissa << k, off = back > scaled ? back - scaled : scaled - back;
        if (2 * off < power) {
            *ret = fixed_print(mantissa, digits - whole, text);
            return true;
        }
    }
    return false;
}

size_t number_print(double value, char ret[NUMBER_TEXT])
{
    double size = fabs(value), back;
    size_t sign = signbit(value) != 0, n;
    ret[0] = '-';
    if (size < 1e15 && size == floor(size))
        return sign + number_print_whole((uint64_t)size, ret + sign);
    if (print_exactly(size, ret + sign, &n))
        return sign + n;
    for (int digits = 15;; digits++) {
        n = number_print_digits(value, digits, ret);
        if (digits == 17 || !number_read(ret, &back) || back == value)
            return n;
    }
}

size_t number_print_float(float value, char ret[NUMBER_TEXT])
{
    size_t sign = 0;
    double size = fabs((double)value);
    if (value < 0)
        ret[sign++] = '-';
    if (size < 1e7 && size == floor(size))
        return sign + number_print_whole((uint64_t)size, ret + sign);
    /* 6 to 9 significant digits, the first that reads back */
    for (int digits = 6; size >= 1e-5 && size < 1e7 && digits <= 9; digits++) {
        int places = digits;
        while (places > 0 && size * decimal_powers[places] >= decimal_powers[digits])
            places--;
        while (size * decimal_powers[places + 1] < decimal_powers[digits])
            places++;
        double mantissa = round(size * decimal_powers[places]);
        float back;
        if (decimal_narrow(mantissa / decimal_powers[places], &back) && back == (float)size)
            return sign + fixed_print((uint64_t)mantissa, places, ret + sign);
    }
    for (int digits = 6;; digits++) {
        double back = 0;
        size_t n = number_print_digits((double)value, digits, ret);
        if (digits == 9 || !number_read(ret, &back) || (float)back == value)
            return n;
    }
}
