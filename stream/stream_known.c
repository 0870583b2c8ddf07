/* SPDX-License-Identifier: BSD-3-Clause */
/* What a stream knows by now, for anyone who asks. */
#include "stream_state.h"

const struct names *stream_labels(const struct stream *s)
{
    return s->parser.labels;
}

const struct names *stream_features(const struct stream *s)
{
    return s->parser.features;
}

const struct schema *stream_schema(const struct stream *s)
{
    return s->parser.schema;
}

const struct names *stream_remarks(const struct stream *s)
{
    return s->parser.remarks;
}

const struct names *stream_with(const struct stream *s)
{
    return s->parser.with;
}

uint64_t stream_unanswered(const struct stream *s)
{
    return s->parser.unanswered;
}

uint64_t stream_unlabelled(const struct stream *s)
{
    return s->parser.unlabelled;
}

uint64_t stream_ignored(const struct stream *s)
{
    return s->parser.ignored;
}

int stream_index_base(const struct stream *s)
{
    return s->parser.base;
}

uint64_t stream_skipped(const struct stream *s)
{
    return s->parser.skipped;
}

uint64_t stream_label_rows(const struct stream *s, uint32_t label)
{
    return label < s->label_rows_n ? s->label_rows[label] : 0;
}

uint64_t stream_label_repeats(const struct stream *s)
{
    return s->label_repeats;
}

uint64_t stream_rows_read(const struct stream *s)
{
    return atomic_load_explicit(&s->rows, memory_order_relaxed);
}

uint64_t stream_bytes_read(const struct stream *s)
{
    return atomic_load_explicit(&s->bytes, memory_order_relaxed);
}

uint64_t stream_bytes_total(const struct stream *s)
{
    return s->total;
}
