// SPDX-License-Identifier: Apache-2.0

// A worker that has gone bad: it begins as one that is well, so that it gets a run, and then says
// frames of all kinds, most of them nearly right. What it says follows from the `seed` in its
// configuration alone, so that a failure can be seen again.

#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { work = 3, packet_max = 128 << 10 };

static uint64_t state;
static unsigned char packet[packet_max];
static size_t used;
static uint64_t run;
// Whether it stays within what a worker may say, as far as it can.
static int polite;

static uint64_t random_below(uint64_t bound) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % bound;
}

static void bytes(const void *from, size_t count) {
    if (used + count > sizeof packet) return;
    memcpy(packet + used, from, count);
    used += count;
}

static void number(uint64_t value, size_t width) { bytes(&value, width); }

static void text(const char *value) {
    number(strlen(value), 4);
    bytes(value, strlen(value));
}

static size_t begin(int kind, unsigned flags, uint64_t subject) {
    size_t start = used;
    number(0, 4);
    number((uint64_t)kind, 1);
    number(1, 1);
    number(flags, 2);
    number(subject, 8);
    return start;
}

static void end(size_t start) {
    uint32_t length = (uint32_t)(used - start);
    memcpy(packet + start, &length, sizeof length);
}

static const char *word(void) {
    static const char *const words[] = {
        "", "succeed", "{}", "[1]", "{\"a\":1}", "\x1b[2J", "a\nb", "\xff", "\xe2\x80\xae", "fuzz.1",
        "http://127.0.0.1:1/", "GET", "../../etc/passwd", "misbehave", "0123456789ABCDEFGHJKMNPQRS",
    };
    const char *word = words[random_below(sizeof words / sizeof *words)];
    return polite && *word == '\xff' ? "" : word;
}

static uint64_t some_run(void) {
    switch (polite ? 99 : random_below(30)) {
    case 0: return 0;
    case 1: return run + 1;
    case 2: return run + 1024;
    case 3: return random_below(UINT64_MAX);
    default: return run;
    }
}

static void confined(void) {
    size_t start = begin(0x88, 0, 0);
    number(0, 3);
    end(start);
}

static void ready(void) {
    size_t start = begin(0x81, 0, 0);
    text("org.example.misbehave");
    text("1");
    text("");
    number(1, 2);
    text("succeed");
    number(0, 4);
    end(start);
}

static void call(void) {
    static const unsigned codes[] = {1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 32, 33, 34, 99};
    unsigned code = codes[random_below(polite ? 4 : sizeof codes / sizeof *codes)];
    size_t start = begin(0x87, code, random_below(8));
    number(some_run(), 8);
    // The fields of a call, or something near them.
    switch (code) {
    case 1:
        text(word());
        text(word());
        number(random_below(4), 4);
        number(random_below(INT64_MAX), 8);
        number(random_below(8), 4);
        break;
    case 2: case 17: case 18: case 20: case 33: text(word()); break;
    case 3: case 4: case 34: break;
    case 6: case 7: case 21: number(random_below(8), 8); break;
    default:
        for (uint64_t count = random_below(14); count > 0; count--) text(word());
        for (uint64_t count = random_below(5); count > 0; count--) number(random_below(1000), 8);
    }
    end(start);
}

static void completed(int status, const char *message, const char *result) {
    size_t start = begin(0x83, (unsigned)random_below(4), polite ? run : some_run());
    number(random_below(2000), 8);
    number((uint32_t)status, 4);
    text(message);
    text(result);
    end(start);
}

static void frame(void) {
    size_t start;
    switch (random_below(9)) {
    case 0:
        // Nothing may be said of a run that has been completed.
        if (polite) break;
        completed(-(int)random_below(20), word(), word());
        break;
    case 1:
        if (!polite) end(begin(0x84, 0, some_run()));
        break;
    case 2: case 3:
        start = begin(0x85, 0, some_run());
        number(random_below(UINT64_MAX), 8);
        number(random_below(UINT64_MAX), 8);
        text(word());
        end(start);
        break;
    case 4: case 5:
        start = begin(0x86, (unsigned)random_below(polite ? 6 : 7), some_run());
        number(random_below(UINT32_MAX), 4);
        text(word());
        end(start);
        break;
    case 6:
        if (!polite && random_below(4) == 0) ready();
        if (!polite && random_below(4) == 0) confined();
        break;
    default: call();
    }
}

static void spoil(void) {
    for (uint64_t count = 1 + random_below(4); count > 0 && used > 0; count--) {
        switch (random_below(4)) {
        case 0: used = 1 + random_below(used); break;
        case 1: packet[random_below(used)] = (unsigned char)random_below(256); break;
        default: packet[random_below(used)] ^= (unsigned char)(1u << random_below(8));
        }
    }
}

static void say(void) {
    // A packet without bytes looks like a closed socket.
    if (polite && used == 0) return;
    // The daemon has closed its end.
    if (send(work, packet, used, MSG_NOSIGNAL) < 0) _exit(1);
    used = 0;
}

int main(void) {
    static unsigned char heard[packet_max];
    ssize_t count = recv(work, heard, sizeof heard - 1, 0);
    if (count <= 0) return 1;
    const char *seed = memmem(heard, (size_t)count, "\"seed\":", 7);
    // A test without a seed asks whether a worker can exploit the daemon at all.
    state = seed ? strtoull(seed + 7, NULL, 10) * 0x9e3779b97f4a7c15u | 1 : 1;
    for (int round = 0; round < 8; round++) random_below(2);
    // One in eight is bad from its first word on, and one in eight means no harm.
    uint64_t spoiled = random_below(8);
    polite = spoiled == 7;
    confined();
    ready();
    if (spoiled == 0) spoil();
    say();
    count = recv(work, heard, sizeof heard, 0);
    if (count >= 16) memcpy(&run, heard + 8, sizeof run);
    for (uint64_t packets = random_below(polite ? 4 : 40); packets > 0; packets--) {
        for (uint64_t frames = 1 + random_below(4); frames > 0; frames--) frame();
        if (spoiled < 4 && random_below(10) == 0) spoil();
        say();
    }
    if (polite && random_below(2) == 0) {
        completed(0, "", "{}");
        say();
    }
    switch (polite ? 3 : random_below(4)) {
    case 0: return (int)random_below(3);
    case 1: shutdown(work, SHUT_RDWR); break;
    default: break;
    }
    // It stays, and heeds nothing.
    for (;;) poll(NULL, 0, -1);
}
