/* SPDX-License-Identifier: BSD-3-Clause */
/* What a cell's text can be: a number, a date. */
#include <math.h>
#include <string.h>

#include "base/decimal.h"
#include "sample.h"

bool cell_number(const char *text, size_t length, char point, double *ret)
{
    char copy[64 + DECIMAL_PADDING] = {0};
    float value;
    if (length == 0 || length > 63)
        return false;
    memcpy(copy, text, length);
    if (point != '.') {
        char *comma = memchr(copy, point, length);
        if (memchr(copy, '.', length))
            return false;
        if (comma)
            *comma = '.';
    }
    if (decimal_read_any(copy, &value) != copy + length || !isfinite(value))
        return false;
    *ret = (double)value;
    return true;
}

static int digits(const char *text, int n)
{
    int value = 0;
    for (int i = 0; i < n; i++) {
        if ((unsigned)text[i] - '0' > 9)
            return -1;
        value = 10 * value + (text[i] - '0');
    }
    return value;
}

/* Days since 1970-01-01 in the Gregorian calendar. */
static int32_t days_of(int year, int month, int day)
{
    year -= month <= 2;
    int era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
    int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* "Z", "+01:00", "+0100", "+01" or nothing; what was written is the time of day, wherever that was. */
static bool zone_is_good(const char *text, size_t length)
{
    if (length == 0 || (length == 1 && *text == 'Z'))
        return true;
    if ((*text != '+' && *text != '-') || length < 3 || digits(text + 1, 2) < 0)
        return false;
    return length == 3 || (length == 5 && digits(text + 3, 2) >= 0) ||
           (length == 6 && text[3] == ':' && digits(text + 4, 2) >= 0);
}

bool cell_date(const char *text, size_t length, int32_t *ret_day, double *ret_part, int *ret_hour)
{
    static const int most[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (length < 10 || text[4] != '-' || text[7] != '-')
        return false;
    int year = digits(text, 4), month = digits(text + 5, 2), day = digits(text + 8, 2);
    if (year < 0 || month < 1 || month > 12 || day < 1 || day > most[month - 1])
        return false;
    int hour = -1, minute = 0, second = 0;
    size_t at = 10;
    if (length > 10) {
        if (length < 16 || (text[10] != 'T' && text[10] != ' ') || text[13] != ':')
            return false;
        hour = digits(text + 11, 2);
        minute = digits(text + 14, 2);
        at = 16;
        if (length >= 19 && text[16] == ':') {
            second = digits(text + 17, 2);
            at = 19;
            if (at < length && (text[at] == '.' || text[at] == ','))
                for (at++; at < length && (unsigned)text[at] - '0' < 10;)
                    at++;
        }
        if (hour < 0 || hour > 24 || minute < 0 || minute > 59 || second < 0 || second > 60 ||
            !zone_is_good(text + at, length - at))
            return false;
    }
    *ret_day = days_of(year, month, day);
    *ret_part = hour < 0 ? 0 : (hour * 3600 + minute * 60 + second) / 86400.0;
    *ret_hour = hour;
    return true;
}
