/* SPDX-License-Identifier: Apache-2.0
 * A server of HTTP/1.1 that costs as little as one can: bodies go out by sendfile from memory, and
 * what comes in is dropped by the kernel, uncopied. What is compared with it in between are clients.
 *
 *   GET /BYTES        a file so large, or by Range the rest of it from a byte on
 *   GET /BYTES?cut    half of it, and the end of the connection; by Range the rest
 *   GET /BYTES?stall  half of it, and nothing more
 *   PUT /...          takes a body of any length */
#include "floors.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

enum { head_max = 16384, window = 4 << 20, events_max = 256 };

struct connection {
  int      fd, is_writing, closes;
  size_t   have;        /* of the next head */
  uint64_t out, out_to; /* of the body that goes out: from, to */
  uint64_t in;          /* of the body that still comes in */
  char     head[head_max];
};

static int polls, source;

static void watch(struct connection *c, int operation, uint32_t events) {
  struct epoll_event event = {.events = events, .data.ptr = c};
  if (epoll_ctl(polls, operation, c->fd, &event) < 0) die("epoll_ctl");
}

/* The value of a field of the head; an empty one if it is not there. */
static const char *field(const char *head, const char *name) {
  size_t length = strlen(name);
  for (const char *line = strstr(head, "\r\n"); line; line = strstr(line + 2, "\r\n"))
    if (strncasecmp(line + 2, name, length) == 0 && line[2 + length] == ':')
      return line + 3 + length + strspn(line + 3 + length, " ");
  return "";
}

static int say(struct connection *c, const char *text, size_t length, int flags) {
  return send(c->fd, text, length, flags | MSG_NOSIGNAL) == (ssize_t)length;
}

/* Sends what there is room for; 0 when the connection is to end. */
static int send_body(struct connection *c) {
  while (c->out < c->out_to) {
    off_t    at    = (off_t)(c->out % window);
    uint64_t count = c->out_to - c->out;
    if (count > (uint64_t)(window - at)) count = (uint64_t)(window - at);
    ssize_t sent = sendfile(c->fd, source, &at, count);
    if (sent < 0 && errno == EAGAIN) {
      if (!c->is_writing) watch(c, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
      c->is_writing = 1;
      return 1;
    }
    if (sent <= 0) return 0;
    c->out += (uint64_t)sent;
  }
  if (c->is_writing) watch(c, EPOLL_CTL_MOD, EPOLLIN);
  c->is_writing = 0;
  return !c->closes;
}

/* Answers a head, which ends in a zero; 0 when the connection is to end. */
static int answer(struct connection *c, const char *head) {
  char text[256];
  if (strncmp(head, "PUT ", 4) == 0 || strncmp(head, "POST ", 5) == 0) {
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    c->in = strtoull(field(head, "content-length"), NULL, 10);
    if (*field(head, "expect") && !say(c, go_on, sizeof go_on - 1, 0)) return 0;
    return 1;
  }
  if (strncmp(head, "GET /", 5) != 0) return 0;
  char       *end;
  uint64_t    total = strtoull(head + 5, &end, 10), from = 0;
  const char *range = field(head, "range");
  int         is_part = strncmp(range, "bytes=", 6) == 0;
  if (is_part) from = strtoull(range + 6, NULL, 10);
  if (from > total) return 0;
  int length = snprintf(text, sizeof text,
                        "HTTP/1.1 %s\r\nContent-Length: %llu\r\nETag: \"1\"\r\n",
                        is_part ? "206 Partial Content" : "200 OK",
                        (unsigned long long)(total - from));
  if (is_part)
    length += snprintf(text + length, sizeof text - (size_t)length,
                       "Content-Range: bytes %llu-%llu/%llu\r\n", (unsigned long long)from,
                       (unsigned long long)(total - 1), (unsigned long long)total);
  length += snprintf(text + length, sizeof text - (size_t)length, "\r\n");
  c->out    = from;
  c->out_to = total;
  c->closes = strncmp(end, "?cut", 4) == 0 && !is_part;
  if (c->closes || strncmp(end, "?stall", 6) == 0) c->out_to = total / 2;
  return say(c, text, (size_t)length, total ? MSG_MORE : 0) && send_body(c);
}

/* Takes what has come; 0 when the connection is to end. */
static int receive(struct connection *c) {
  static const char taken[] = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n";
  for (;;) {
    while (c->in > 0) {
      size_t  most  = c->in < window ? (size_t)c->in : window;
      ssize_t count = recv(c->fd, NULL, most, MSG_TRUNC);
      if (count < 0 && errno == EAGAIN) return 1;
      if (count <= 0) return 0;
      c->in -= (uint64_t)count;
      if (c->in == 0 && !say(c, taken, sizeof taken - 1, 0)) return 0;
    }
    /* Of a body not a byte is read with its head. */
    ssize_t seen = recv(c->fd, c->head + c->have, head_max - 1 - c->have, MSG_PEEK);
    if (seen < 0 && errno == EAGAIN) return 1;
    if (seen <= 0) return 0;
    c->head[c->have + (size_t)seen] = 0;
    char   *end  = strstr(c->head, "\r\n\r\n");
    size_t  used = end ? (size_t)(end + 4 - c->head) - c->have : (size_t)seen;
    ssize_t read = recv(c->fd, c->head + c->have, used, 0);
    if (read != (ssize_t)used) return 0;
    if (!end) {
      c->have += used;
      if (c->have == head_max - 1) return 0;
      continue;
    }
    end[2]  = 0;
    c->have = 0;
    if (!answer(c, c->head)) return 0;
    /* The next request waits until this one has been answered. */
    if (c->out < c->out_to) return 1;
  }
}

static void accept_all(int listener) {
  for (;;) {
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), on = 1;
    if (fd < 0) return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct connection *c = calloc(1, sizeof *c);
    if (!c) die("calloc");
    c->fd = fd;
    watch(c, EPOLL_CTL_ADD, EPOLLIN);
  }
}

/* Says its port, and serves until the other end of its input is closed: the program that starts it may do
 * so on a thread that does not live as long as it should. */
int serve(int argc, char **argv) {
  (void)argc;
  (void)argv;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t          length  = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  source       = memfd_create("body", MFD_CLOEXEC);
  polls        = epoll_create1(EPOLL_CLOEXEC);
  if (listener < 0 || source < 0 || polls < 0 || ftruncate(source, window) < 0 ||
      bind(listener, (struct sockaddr *)&address, length) < 0 || listen(listener, 4096) < 0 ||
      getsockname(listener, (struct sockaddr *)&address, &length) < 0)
    die("serve");
  char *body = mmap(NULL, window, PROT_WRITE, MAP_SHARED, source, 0);
  if (body == MAP_FAILED) die("mmap");
  for (size_t i = 0; i < window; i++) body[i] = (char)(i * 31 + (i >> 12));
  struct connection wake = {.fd = listener}, end = {.fd = STDIN_FILENO};
  watch(&wake, EPOLL_CTL_ADD, EPOLLIN);
  watch(&end, EPOLL_CTL_ADD, EPOLLIN);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  for (;;) {
    struct epoll_event events[events_max];
    int                count = epoll_wait(polls, events, events_max, -1);
    for (int i = 0; i < count; i++) {
      struct connection *c = events[i].data.ptr;
      if (c == &end) return 0;
      if (c == &wake) {
        accept_all(listener);
        continue;
      }
      int is_open = !(events[i].events & (EPOLLHUP | EPOLLERR));
      if (is_open && c->out < c->out_to) is_open = send_body(c);
      if (is_open && c->out == c->out_to) is_open = receive(c);
      if (is_open) continue;
      close(c->fd);
      free(c);
    }
  }
}
