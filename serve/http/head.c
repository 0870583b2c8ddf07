/* SPDX-License-Identifier: BSD-3-Clause */
/* What the HTTP library lets pass of a request's head and RFC 9112 does not. Two readings of where a request ends are
 * how requests are smuggled past a proxy; so whatever a proxy might read otherwise is refused, and the connection
 * closed. */
#include <string.h>
#include <strings.h>

#include "http/server.h"

struct fields {
    unsigned lengths, encodings, hosts;
    const char *problem;
};

/* RFC 9110, 5.6.2 */
static bool is_token(const char *s)
{
    const char *p = s;
    while ((*p >= '0' && *p <= '9') || ((*p | 32) >= 'a' && (*p | 32) <= 'z') || (*p && strchr("-!#$%&'*+.^_`|~", *p)))
        p++;
    return p != s && !*p;
}

static bool has_control(const char *s, unsigned char lowest)
{
    for (; *s; s++)
        if (((unsigned char)*s < lowest && *s != '\t') || *s == 0x7f)
            return true;
    return false;
}

/* The field itself, or what the library makes of its name when its value goes on in the next line. */
static bool begins(const char *name, const char *field, unsigned *count)
{
    size_t n = strlen(field);
    if (strncasecmp(name, field, n) != 0)
        return false;
    *count += name[n] == 0;
    return name[n] != 0;
}

static enum MHD_Result look(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
    struct fields *f = context;
    if (!is_token(name))
        f->problem = "the name of a header field has characters that it must not have";
    else if (value && has_control(value, ' '))
        f->problem = "the value of a header field has control characters";
    else if (begins(name, MHD_HTTP_HEADER_CONTENT_LENGTH, &f->lengths) ||
             begins(name, MHD_HTTP_HEADER_TRANSFER_ENCODING, &f->encodings))
        f->problem = "the length of the body cannot be determined from the header";
    else if (strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0)
        f->hosts++;
    if (f->encodings && strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0 && strcasecmp(value, "chunked") != 0)
        f->problem = "the only Transfer-Encoding is chunked";
    return f->problem ? MHD_NO : MHD_YES;
}

bool head_target_ok(const char *uri)
{
    return uri && !strpbrk(uri, " \t") && !has_control(uri, ' ');
}

bool head_ok(struct MHD_Connection *c, const char *method, const char *version, struct http_error *err)
{
    struct fields f = {.problem = is_token(method) ? NULL : "the method has characters that it must not have"};
    if (!f.problem)
        MHD_get_connection_values(c, MHD_HEADER_KIND, look, &f);
    if (!f.problem && f.lengths + f.encodings > 1)
        f.problem = "more than one Content-Length or Transfer-Encoding";
    if (!f.problem && (f.hosts > 1 || (f.hosts == 0 && strcmp(version, MHD_HTTP_VERSION_1_0) != 0)))
        f.problem = f.hosts ? "more than one Host" : "no Host";
    return !f.problem || http_error_set(err, 400, "bad_framing", "%s", f.problem);
}
