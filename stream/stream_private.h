/* SPDX-License-Identifier: BSD-3-Clause */
/* What the pipeline needs of a stream: private to this room. */
#ifndef STREAM_PRIVATE_H
#define STREAM_PRIVATE_H

#include "stream.h"

/* Take the stream away from a thread that waits for its input; false: none does. The thread never comes back, and the
 * stream's memory is never freed: the thread may still be given bytes. */
bool stream_abandon(struct stream *s);
/* The end of stream_ahead: sort the labels and number those of the rows that have been read ahead. */
hunch_status stream_settle(struct stream *s, hunch_error *reterr);
bool stream_has_ahead(const struct stream *s); /* rows that were read ahead are left */

#endif
