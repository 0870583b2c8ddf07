/* SPDX-License-Identifier: BSD-3-Clause */
/* Certificate and key, which can be reloaded while the server runs. One per process. */
#ifndef SERVE_TLS_H
#define SERVE_TLS_H

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <stdbool.h>

#include "util/http_error.h"

#define TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA" /* no key exchange without forward secrecy */

/* In place of what there was; on failure that stays. */
bool tls_load(const char *cert, const char *key, struct http_error *err);
void tls_free(void);
/* The HTTP library asks for them at each handshake. */
int tls_certificate(gnutls_session_t session, const gnutls_datum_t *authorities, int authorities_n,
                    const gnutls_pk_algorithm_t *algorithms, int algorithms_n, gnutls_pcert_st **ret, unsigned *ret_n,
                    gnutls_privkey_t *ret_key);

#endif
