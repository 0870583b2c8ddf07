/* SPDX-License-Identifier: BSD-3-Clause */
/* One JSON line on standard error per event. The fields are given as json_pack does it; pass "{}" for none.
 * Requests' bodies, header fields and tokens never go here. */
#ifndef SERVE_LOG_H
#define SERVE_LOG_H

void log_event(const char *event, const char *format, ...);

#endif
