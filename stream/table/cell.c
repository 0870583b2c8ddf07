/* SPDX-License-Identifier: BSD-3-Clause */
/* What a cell's text can be: a number, a date. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/decimal.h"
#include "table/sample.h"

#define NUMBER_BYTES 63

/* Text that is being read. */
struct scan {
    const char *at, *end;
};

static bool next_is(const struct scan *s, const char *any)
{
    return s->at < s->end && *s->at && strchr(any, *s->at);
}

static bool digit_is_next(const struct scan *s)
{
    return s->at < s->end && (unsigned)*s->at - '0' < 10;
}

/* Passes over the first of these that is next; false: none is. */
static bool scan_pass(struct scan *s, const char *const *any)
{
    for (; *any; any++) {
        size_t n = strlen(*any);
        if ((size_t)(s->end - s->at) >= n && !memcmp(s->at, *any, n)) {
            s->at += n;
            return true;
        }
    }
    return false;
}

/* --- numbers --- */

/* Also those that do not break the line, or are narrow, or thin. */
static const char *const blanks[] = {" ", "\u00a0", "\u202f", "\u2009", NULL};
static const char *const signs[] = {"$",   "%",   "€",   "£",   "¥",   "₹",   "₽", "¢",   "US$", "R$",
                                    "CHF", "EUR", "GBP", "INR", "JPY", "USD", "kr",  "Rs.", NULL};

static void scan_digits(struct scan *s, char **out)
{
    while (digit_is_next(s))
        *(*out)++ = *s->at++;
}

/* The text between the first digits and the next three, if these are a group of thousands. */
static const char *separator_find(struct scan s, char point)
{
    const char *const any[] = {point == '.' ? "," : ".", "'", "’", blanks[0], blanks[1], blanks[2], blanks[3]};
    for (size_t i = 0; i < sizeof any / sizeof *any; i++)
        if (scan_pass(&s, (const char *const[]){any[i], NULL}))
            return any[i];
    return NULL;
}

/* An amount as people write it, "$1,234.50", "12 %", "1.234,50 €", as plain text. */
static bool amount_read(struct scan s, char point, char *out)
{
    char *begin = out;
    bool bracketed = s.end - s.at > 2 && *s.at == '(' && s.end[-1] == ')'; /* as accountants write what is below 0 */
    s.at += bracketed;
    s.end -= bracketed;
    while (scan_pass(&s, signs) || scan_pass(&s, blanks))
        ;
    if (bracketed || scan_pass(&s, (const char *const[]){"-", "−", NULL}))
        *out++ = '-';
    while (scan_pass(&s, signs) || scan_pass(&s, blanks))
        ;
    begin = out;
    scan_digits(&s, &out);
    const char *between = out > begin && out - begin <= 3 && *begin != '0' ? separator_find(s, point) : NULL;
    for (struct scan group = s; between && scan_pass(&group, (const char *const[]){between, NULL}); s = group) {
        char *before = out;
        scan_digits(&group, &out);
        if (out - before != 3) {
            out = before; /* "12 %" */
            break;
        }
    }
    if (s.at < s.end && *s.at == point) {
        *out++ = '.';
        s.at++;
        scan_digits(&s, &out);
    }
    while (scan_pass(&s, blanks) || scan_pass(&s, signs))
        ;
    *out = 0;
    return out > begin && s.at == s.end;
}

bool cell_number(const char *text, size_t length, char point, double *ret)
{
    char copy[NUMBER_BYTES + 1 + DECIMAL_PADDING] = {0};
    float value;
    if (length == 0 || length > NUMBER_BYTES)
        return false;
    memcpy(copy, text, length);
    char *comma = point != '.' && !memchr(copy, '.', length) ? memchr(copy, point, length) : NULL;
    if (comma)
        *comma = '.';
    const char *end = point == '.' || comma || !memchr(copy, '.', length) ? decimal_read_any(copy, &value) : NULL;
    if (end != copy + length) {
        if (!amount_read((struct scan){text, text + length}, point, copy))
            return false;
        end = decimal_read_any(copy, &value);
        if (!end || *end)
            return false;
    }
    *ret = (double)value;
    return isfinite(value);
}

bool cell_is_infinite(const char *text, size_t length)
{
    static const char *const words[] = {"inf", "infinity", "infinite"};
    char copy[NUMBER_BYTES + 1 + DECIMAL_PADDING] = {0};
    float value;
    if (length == 0 || length > NUMBER_BYTES)
        return false;
    memcpy(copy, text, length);
    const char *word = copy + (*copy == '-' || *copy == '+'), *end = decimal_read_any(copy, &value);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcasecmp(word, words[i]))
            return true;
    return end == copy + length && isinf(value);
}

/* --- dates --- */

/* Days since 1970-01-01 in the Gregorian calendar. */
static int32_t days_of(int year, int month, int day)
{
    year -= month <= 2;
    int era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
    int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* Up to max digits; how many there were, 0: none, or more. */
static int number_read(struct scan *s, int max, int *ret)
{
    int n = 0, value = 0;
    for (; digit_is_next(s) && n <= max; n++)
        value = 10 * value + (*s->at++ - '0');
    *ret = value;
    return n > max ? 0 : n;
}

/* The number from 1 on of an English word or its first three letters; 0: another, which is not passed over. */
static int word_read(struct scan *s, const char *const *words)
{
    size_t n = 0;
    while (s->at + n < s->end && isalpha((unsigned char)s->at[n]))
        n++;
    for (int i = 0; n >= 3 && words[i]; i++)
        if (!strncasecmp(s->at, words[i], n) && (n == 3 || n == strlen(words[i]))) {
            s->at += n;
            return i + 1;
        }
    return 0;
}

/* Three parts of a date in the order in which they stand; a month that is a word has 0 digits. */
struct parts {
    int value[3], digits[3];
    char between; /* the first two */
};

static const char *const months[] = {"january", "february",  "march",   "april",    "may",      "june", "july",
                                     "august",  "september", "october", "november", "december", NULL};

static bool parts_read(struct scan *s, struct parts *p)
{
    bool word = false;
    for (int i = 0;; i++) {
        int month = word || i == 2 ? 0 : word_read(s, months);
        p->value[i] = month;
        p->digits[i] = month ? 0 : number_read(s, 4, &p->value[i]);
        if (!month && !p->digits[i])
            return false;
        if (i == 2)
            return true;
        const char *begin = s->at;
        while (next_is(s, "-/., "))
            s->at++;
        word = word || month;
        if (s->at == begin || s->at == s->end)
            return false;
        p->between = i ? p->between : *begin;
        bool named = word || (i == 0 && isalpha((unsigned char)*s->at));
        if (!named && (s->at - begin != 1 || !strchr("-/.", *begin) || *begin != p->between))
            return false;
    }
}

/* order: 'd' or 'm', which of day and month stands first where both are numbers after which the year comes. */
static bool parts_date(const struct parts *p, char order, struct date *ret)
{
    static const int month_days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const int *v = p->value, *n = p->digits;
    int year = v[2], month = v[1], day = v[0];
    bool two = n[0] == 2 && n[1] == 2 && n[2] == 2;
    if (n[0] == 4) {
        year = v[0];
        day = v[2];
    } else if (n[2] == 2 && (two || p->between == '/' || !n[1])) {
        year += year < 70 ? 2000 : 1900;
    } else if (n[2] != 4) {
        return false;
    }
    if (n[0] == 0 || (n[0] != 4 && n[1] != 0 && order == 'm')) {
        month = v[0];
        day = v[1];
    }
    int digits_of_day = n[0] == 4 ? n[2] : n[0] ? n[0] : n[1];
    if (digits_of_day > 2 || month < 1 || month > 12 || day < 1 || day > month_days[month - 1])
        return false;
    ret->day = days_of(year, month, day);
    return true;
}

/* "Z", "CEST", "+01:00", "-0500", "GMT+1", or nothing: which zone it is does not matter. */
static bool zone_pass(struct scan *s)
{
    size_t letters = 0;
    int value;
    while (s->at + letters < s->end && isupper((unsigned char)s->at[letters]))
        letters++;
    if (letters == 1 ? *s->at == 'Z' : letters >= 3 && letters <= 5)
        s->at += letters;
    if (!next_is(s, "+-"))
        return true;
    s->at++;
    int digits = number_read(s, 4, &value);
    if (!next_is(s, ":"))
        return digits == 1 || digits == 2 || digits == 4;
    s->at++;
    return digits && digits <= 2 && number_read(s, 2, &value) == 2;
}

/* " 13:30:05.25 +01:00", "T13:30Z", " 1:30 PM"; what was written is the time of day, wherever that was. */
static bool time_read(struct scan *s, struct date *ret)
{
    static const char *const mornings[] = {"AM", "am", "a.m.", NULL}, *const evenings[] = {"PM", "pm", "p.m.", NULL},
                             *const blank[] = {" ", NULL};
    int minute, second = 0;
    if (number_read(s, 2, &ret->hour) == 0 || !next_is(s, ":."))
        return false;
    char between = *s->at++;
    if (number_read(s, 2, &minute) != 2)
        return false;
    if (s->at < s->end && *s->at == between) {
        s->at++;
        if (number_read(s, 2, &second) != 2)
            return false;
        if (next_is(s, ".,"))
            for (s->at++; digit_is_next(s);)
                s->at++;
    }
    scan_pass(s, blank);
    if (ret->hour <= 12 && scan_pass(s, evenings))
        ret->hour = ret->hour % 12 + 12;
    else if (ret->hour <= 12 && scan_pass(s, mornings))
        ret->hour %= 12;
    scan_pass(s, blank);
    if (!zone_pass(s))
        return false;
    ret->part = (ret->hour * 3600 + minute * 60 + second) / 86400.0;
    return ret->hour <= 24 && minute <= 59 && second <= 60;
}

/* "Jan 06 12:43:44 +0000 2010", "Jan  6 12:43:44 2010": as C's ctime and some web services write it. */
static bool year_last_read(struct scan s, struct date *ret)
{
    struct date date = {.hour = -1};
    int month = word_read(&s, months), day, year;
    for (int i = 0; i < 2 && next_is(&s, " "); i++)
        s.at++;
    if (!month || !number_read(&s, 2, &day) || !next_is(&s, " "))
        return false;
    const char *blank = memrchr(s.at, ' ', (size_t)(s.end - s.at));
    struct scan time = {s.at + 1, blank}, last = {blank + 1, s.end};
    if (blank == s.at || !time_read(&time, &date) || time.at != blank || number_read(&last, 4, &year) != 4 ||
        last.at != s.end || !parts_date(&(struct parts){{month, day, year}, {0, 2, 4}, ' '}, 'm', &date))
        return false;
    *ret = date;
    return true;
}

/* Nothing but digits: 20240131, or 10142018, whose first zero a spreadsheet may have lost: 1012018. */
static bool digits_date(struct scan *s, char order, struct date *ret)
{
    int n, digits = number_read(s, 8, &n), century = n % 10000 / 100;
    struct parts year_first = {{n / 10000, n / 100 % 100, n % 100}, {4, 2, 2}, 0};
    struct parts year_last = {{n / 1000000, n / 10000 % 100, n % 10000}, {2, 2, 4}, 0};
    if ((digits != 7 && digits != 8) || s->at != s->end)
        return false;
    if (digits == 8 && (n / 1000000 == 19 || n / 1000000 == 20) && parts_date(&year_first, order, ret))
        return true;
    return (century == 19 || century == 20) && parts_date(&year_last, order, ret);
}

/* A month and a year alone, "Aug-62", "Aug 2018", "2018-08": the first of the month. Years of two digits are those of
 * beginnings and births: 30 and more are of the last century. */
static bool month_date(struct scan s, struct date *ret)
{
    int year, month = word_read(&s, months), digits = 0;
    if (month && next_is(&s, "- '/")) {
        s.at++;
        digits = number_read(&s, 4, &year);
    } else if (!month && number_read(&s, 4, &year) == 4 && next_is(&s, "-")) {
        s.at++;
        digits = number_read(&s, 2, &month) == 2 ? 4 : 0;
    }
    if ((digits != 2 && digits != 4) || month < 1 || month > 12 || s.at != s.end)
        return false;
    ret->day = days_of(digits == 4 ? year : year + (year < 30 ? 2000 : 1900), month, 1);
    return true;
}

/* 20240131173000: the time follows the day without a sign between them. */
static bool stamp_date(const char *text, struct date *ret)
{
    struct scan s = {text, text + 8};
    int clock;
    if (!digits_date(&s, 'm', ret))
        return false;
    s = (struct scan){text + 8, text + 14};
    if (number_read(&s, 6, &clock) != 6)
        return false;
    ret->hour = clock / 10000;
    ret->part = (ret->hour * 3600 + clock / 100 % 100 * 60 + clock % 100) / 86400.0;
    return ret->hour < 24 && clock / 100 % 100 < 60 && clock % 100 < 60;
}

/* 17:30, 5:30 PM, 17:30:05: a time alone. */
static bool clock_read(struct scan s, struct date *ret)
{
    const char *colon = memchr(s.at, ':', (size_t)(s.end - s.at));
    if (!colon || colon - s.at > 2 || !time_read(&s, ret) || s.at != s.end)
        return false;
    ret->is_clock = true;
    return true;
}

bool cell_date(const char *text, size_t length, char order, struct date *ret)
{
    static const char *const days[] = {"monday", "tuesday",  "wednesday", "thursday",
                                       "friday", "saturday", "sunday",    NULL};
    struct scan s = {text, text + length};
    struct parts p = {{0}, {0}, 0};
    struct date date = {.hour = -1};
    if (length < 4)
        return false;
    if (clock_read(s, &date) || (length == 14 && stamp_date(text, &date)) ||
        (length >= 6 && (month_date(s, &date) || digits_date(&s, order, &date)))) {
        *ret = date;
        return true;
    }
    date = (struct date){.hour = -1};
    s.at = text + (*text == '[' && text[length - 1] == ']'); /* of web servers' logs */
    s.end -= s.at > text;
    if (word_read(&s, days))
        while (next_is(&s, ", "))
            s.at++;
    if (year_last_read(s, &date)) {
        *ret = date;
        return true;
    }
    if (!parts_read(&s, &p) || !parts_date(&p, order, &date))
        return false;
    if (next_is(&s, "T :,")) {
        s.at++;
        scan_pass(&s, (const char *const[]){" ", NULL});
        if (!time_read(&s, &date))
            return false;
    }
    if (s.at != s.end)
        return false;
    *ret = date;
    return true;
}
