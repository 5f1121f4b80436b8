/* SPDX-License-Identifier: Apache-2.0
 * Handlers that write well-formed frames to the daemon past the runtime, and what goes along. */
#ifndef MISBEHAVE_FRAMES_H
#define MISBEHAVE_FRAMES_H

#include "misbehave.h"

/* The socket on which the worker speaks; -1 if there is none. */
static int work_socket(void) {
  for (int fd = 3; fd < 64; fd++) {
    struct stat status;
    if (fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode)) return fd;
  }
  return -1;
}

static size_t number(unsigned char *at, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) at[i] = (unsigned char)(value >> (8 * i));
  return bytes;
}

/* One step of a run, with a phase of one letter. */
static size_t progress_frame(unsigned char *at, bg_run run, uint64_t done) {
  size_t n = 4;
  at[n++] = 0x85;
  at[n++] = 1;
  n += number(at + n, 0, 2);
  n += number(at + n, run, 8);
  n += number(at + n, done, 8);
  n += number(at + n, UINT64_MAX, 8);
  n += number(at + n, 1, 4);
  at[n++] = 'x';
  number(at, n, 4);
  return n;
}

/* killed(protocolFault(14)): steps without end, some of which are dropped and counted before */
HANDLER(flood_frames) {
  (void)plugin;
  static unsigned char packet[48000];
  size_t               n = 0;
  uint64_t             done = 0;
  while (n + 64 < sizeof packet) n += progress_frame(packet + n, info->run, ++done);
  for (int fd = work_socket();;)
    if (send(fd, packet, n, MSG_NOSIGNAL) < 0 && errno != EAGAIN && errno != EINTR) return BG_E_FAILED;
}

/* succeeded; the host drops and counts frames above the rate of the runtime */
HANDLER(burst_frames) {
  (void)plugin;
  static unsigned char packet[48000];
  size_t               n = 0;
  uint64_t             done = 0;
  while (n + 64 < sizeof packet) n += progress_frame(packet + n, info->run, ++done);
  int fd = work_socket();
  for (uint64_t sent = 0; sent < 40000; sent += done)
    if (send(fd, packet, n, MSG_NOSIGNAL) < 0) return BG_E_FAILED;
  return BG_OK;
}

/* succeeded; no descriptor gets into the daemon: logs how many packets with 253 of them it took, which
 * is 0 where the kernel refuses them on the daemon's behalf */
HANDLER(send_descriptors) {
  (void)plugin;
  int           fd = work_socket(), taken = 0, last = 0;
  unsigned char packet[64];
  size_t        n = progress_frame(packet, info->run, 1);
  for (int i = 0; i < 200; i++) {
    _Alignas(struct cmsghdr) char space[CMSG_SPACE(253 * sizeof(int))];
    struct iovec   part = { packet, n };
    struct msghdr  message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = space,
                               .msg_controllen = sizeof space };
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(253 * sizeof(int));
    int *sent = (int *)(void *)CMSG_DATA(header);
    for (int j = 0; j < 253; j++) sent[j] = 0;
    if (sendmsg(fd, &message, MSG_NOSIGNAL) >= 0) taken++;
    else last = errno;
  }
  char line[64];
  snprintf(line, sizeof line, "taken %d, then %s", taken, last ? strerrorname_np(last) : "all");
  say(info->run, line);
  return BG_OK;
}

/* killed(graceExceeded), killed(protocolFault(13)) if its answers pile up, or killed(protocolFault(14)) if
 * it is quick enough to exceed even the bound on refused calls: it asks what is pending
 * without end, and waits for no answer */
HANDLER(flood_calls) {
  (void)plugin;
  int fd = work_socket();
  for (uint64_t call = 1000000;; call++) {
    unsigned char frame[64];
    size_t        n = 4;
    frame[n++] = 0x87;
    frame[n++] = 1;
    n += number(frame + n, 4, 2);
    n += number(frame + n, call, 8);
    n += number(frame + n, info->run, 8);
    n += number(frame + n, 0, 8);
    number(frame, n, 4);
    if (send(fd, frame, n, MSG_NOSIGNAL) < 0 && errno != EAGAIN && errno != EINTR) return BG_E_FAILED;
  }
}

/* the same with a task that no manifest grants: the host refuses each and logs few */
HANDLER(flood_refusals) {
  (void)plugin;
  int               fd = work_socket();
  static const char task[] = "another.task";
  for (uint64_t call = 1000000;; call++) {
    unsigned char frame[96];
    size_t        n = 4;
    frame[n++] = 0x87;
    frame[n++] = 1;
    n += number(frame + n, 1, 2);
    n += number(frame + n, call, 8);
    n += number(frame + n, info->run, 8);
    n += number(frame + n, sizeof task - 1, 4);
    memcpy(frame + n, task, sizeof task - 1);
    n += sizeof task - 1;
    n += number(frame + n, 0, 4);
    n += number(frame + n, 1, 4);
    n += number(frame + n, 0, 8);
    n += number(frame + n, 0, 4);
    number(frame, n, 4);
    if (send(fd, frame, n, MSG_NOSIGNAL) < 0 && errno != EAGAIN && errno != EINTR) return BG_E_FAILED;
  }
}

/* The head of a frame, behind its length. */
static size_t frame_head(unsigned char *at, int kind, uint64_t flags, uint64_t subject) {
  size_t n = 4;
  at[n++] = (unsigned char)kind;
  at[n++] = 1;
  n += number(at + n, flags, 2);
  return n + number(at + n, subject, 8);
}

static bg_status send_without_end(const unsigned char *packet, size_t n) {
  for (int fd = work_socket();;)
    if (send(fd, packet, n, MSG_NOSIGNAL) < 0 && errno != EAGAIN && errno != EINTR) return BG_E_FAILED;
}

/* killed(protocolFault(14)): reports of crashes, each with thousands of lines */
HANDLER(flood_reports) {
  UNUSED;
  static unsigned char packet[24000];
  size_t               n = frame_head(packet, 0x89, 0, 0);
  size_t               bytes = sizeof packet - n - 4;
  bytes -= bytes % 4;
  n += number(packet + n, bytes, 4);
  for (size_t end = n + bytes; n < end; n += 4) memcpy(packet + n, "S 9\n", 4);
  number(packet, n, 4);
  return send_without_end(packet, n);
}

/* killed(protocolFault(14)): that it took ends of transfers which it never got */
HANDLER(flood_taken) {
  (void)plugin;
  static unsigned char packet[48000];
  size_t               n = 0;
  while (n + 64 < sizeof packet) {
    size_t length = frame_head(packet + n, 0x87, 21, 1000000);
    length += number(packet + n + length, info->run, 8);
    length += number(packet + n + length, 7, 8);
    number(packet + n, length, 4);
    n += length;
  }
  return send_without_end(packet, n);
}

/* killed(protocolFault(14)) of its worker, once its run has succeeded: it says so again and again */
HANDLER(flood_ends) {
  (void)plugin;
  static unsigned char packet[48000];
  size_t               n = 0;
  while (n + 64 < sizeof packet) {
    size_t length = frame_head(packet + n, 0x83, 0, info->run);
    length += number(packet + n + length, 0, 8);
    length += number(packet + n + length, 0, 4);
    length += number(packet + n + length, 0, 4);
    length += number(packet + n + length, 0, 4);
    number(packet + n, length, 4);
    n += length;
  }
  return send_without_end(packet, n);
}

/* Sends a call of `keep` that names `count` transfers, in the name of a run, and waits to be killed. */
static bg_status keep_frame(bg_run run, uint32_t count) {
  unsigned char frame[64];
  size_t        n = 4;
  frame[n++] = 0x87;
  frame[n++] = 1;
  n += number(frame + n, 22, 2);
  n += number(frame + n, 1000000, 8);
  n += number(frame + n, run, 8);
  n += number(frame + n, count, 4);
  number(frame, n, 4);
  if (send(work_socket(), frame, n, MSG_NOSIGNAL) < 0) return BG_E_FAILED;
  for (;;) pause();
}

/* killed(protocolFault(12)): it keeps the ends of a wake that another worker has */
HANDLER(keep_foreign) {
  (void)plugin;
  return keep_frame(info->run + (1 << 10), 0);
}

/* killed(protocolFault(8)): it keeps more ends than a wake can tell of */
HANDLER(keep_too_many) {
  (void)plugin;
  return keep_frame(info->run, 1025);
}

#endif
