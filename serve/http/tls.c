/* SPDX-License-Identifier: BSD-3-Clause */
#include "http/tls.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "util/files.h"

#define CHAIN 16 /* certificates in one file */

struct identity {
    gnutls_pcert_st chain[CHAIN];
    unsigned n;
    gnutls_privkey_t key;
    struct identity *older; /* handshakes under way may still use it */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct identity *current;

static void identity_free(struct identity *i)
{
    for (unsigned k = 0; k < i->n; k++)
        gnutls_pcert_deinit(&i->chain[k]);
    if (i->key)
        gnutls_privkey_deinit(i->key);
    free(i);
}

static bool read_pem(const char *path, gnutls_datum_t *ret, struct http_error *err)
{
    void *bytes;
    size_t size;
    if (!file_read(path, 1 << 20, &bytes, &size, err))
        return false;
    *ret = (gnutls_datum_t){bytes, (unsigned)size};
    return true;
}

/* The key must be that of the certificate. */
static int check_pair(const struct identity *i)
{
    unsigned char a[64], b[64];
    size_t n = sizeof a, m = sizeof b;
    gnutls_pubkey_t public;
    int code = gnutls_pubkey_init(&public);
    if (code < 0)
        return code;
    code = gnutls_pubkey_import_privkey(public, i->key, 0, 0);
    if (code >= 0)
        code = gnutls_pubkey_get_key_id(public, GNUTLS_KEYID_USE_SHA256, a, &n);
    if (code >= 0)
        code = gnutls_pubkey_get_key_id(i->chain[0].pubkey, GNUTLS_KEYID_USE_SHA256, b, &m);
    gnutls_pubkey_deinit(public);
    return code < 0 ? code : n == m && memcmp(a, b, n) == 0 ? 0 : GNUTLS_E_CERTIFICATE_KEY_MISMATCH;
}

bool tls_load(const char *cert, const char *key, struct http_error *err)
{
    gnutls_datum_t cert_pem = {0}, key_pem = {0};
    struct identity *i = calloc(1, sizeof *i);
    if (!i)
        return http_error_no_memory(err);
    bool ok = read_pem(cert, &cert_pem, err) && read_pem(key, &key_pem, err);
    if (ok) {
        unsigned n = CHAIN;
        int code = gnutls_pcert_list_import_x509_raw(i->chain, &n, &cert_pem, GNUTLS_X509_FMT_PEM, 0);
        i->n = code < 0 ? 0 : n;
        code = code < 0 ? code : gnutls_privkey_init(&i->key);
        code = code < 0 ? code : gnutls_privkey_import_x509_raw(i->key, &key_pem, GNUTLS_X509_FMT_PEM, NULL, 0);
        code = code < 0 ? code : check_pair(i);
        ok = code >= 0 || http_error_set(err, 400, "tls", "certificate and key: %s", gnutls_strerror(code));
    }
    if (key_pem.data)
        explicit_bzero(key_pem.data, key_pem.size);
    free(cert_pem.data);
    free(key_pem.data);
    if (!ok) {
        identity_free(i);
        return false;
    }
    pthread_mutex_lock(&lock);
    i->older = current;
    current = i;
    pthread_mutex_unlock(&lock);
    return true;
}

void tls_free(void)
{
    while (current) {
        struct identity *older = current->older;
        identity_free(current);
        current = older;
    }
}

int tls_certificate(gnutls_session_t session, const gnutls_datum_t *authorities, int authorities_n,
                    const gnutls_pk_algorithm_t *algorithms, int algorithms_n, gnutls_pcert_st **ret, unsigned *ret_n,
                    gnutls_privkey_t *ret_key)
{
    pthread_mutex_lock(&lock);
    *ret = current->chain;
    *ret_n = current->n;
    *ret_key = current->key;
    pthread_mutex_unlock(&lock);
    return 0;
}
