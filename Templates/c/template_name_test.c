/* Tests of the handler, on a host that is as small as they need it: `make test`. */
#include "template_name.c"
#include <string.h>

/* What a run sees of its host, and what it told it. */
static struct {
  const char *limit;     /* the parameter; 0: there is none                                   */
  bg_status   cancelled; /* what cancelled() answers                                          */
  int         reports;   /* of progress                                                       */
  bg_status   status;    /* the end of the run                                                */
  char        text[200]; /* its message or its result                                         */
} fake;

static bg_status fake_param(const bg_host *its, bg_run run, bg_str pointer, char *buffer, size_t capacity,
                            size_t *need) {
  (void)its, (void)run, (void)pointer;
  if (!fake.limit) return BG_E_ABSENT;
  *need = strlen(fake.limit);
  if (*need > capacity) return BG_E_SMALL;
  memcpy(buffer, fake.limit, *need);
  return BG_OK;
}

static bg_status fake_cancelled(const bg_host *its, bg_run run) {
  (void)its, (void)run;
  return fake.cancelled;
}

static bg_status fake_progress(const bg_host *its, bg_run run, uint64_t done, uint64_t total, bg_str phase) {
  (void)its, (void)run, (void)done, (void)total, (void)phase;
  fake.reports++;
  return BG_OK;
}

static bg_status fake_log(const bg_host *its, bg_run run, uint32_t level, bg_str message) {
  (void)its, (void)run, (void)level, (void)message;
  return BG_OK;
}

static bg_status fake_complete(const bg_host *its, bg_run run, const bg_result *result) {
  bg_str text = result->status == BG_OK ? result->payload : result->message;
  (void)its, (void)run;
  fake.status = result->status;
  snprintf(fake.text, sizeof fake.text, "%.*s", (int)text.len, text.ptr ? text.ptr : "");
  return BG_OK;
}

static int failures;

/* Runs the handler, and compares its end. */
static void expect(const char *limit, bg_status cancelled, bg_status status, const char *text) {
  const bg_host fake_host = { .size = sizeof fake_host, .abi_major = BG_ABI_MAJOR, .complete = fake_complete,
                              .cancelled = fake_cancelled, .progress = fake_progress, .log = fake_log,
                              .param = fake_param };
  const bg_plugin  *table = bghost_plugin_v1(&fake_host);
  const bg_run_info info = { .size = sizeof info, .attempt = 1, .run = 1, .task = table->tasks[0] };
  memset(&fake, 0, sizeof fake);
  fake.limit = limit;
  fake.cancelled = cancelled;
  bg_status answer = table->tasks[0]->start(0, &info);
  if (answer != BG_PENDING) fake.status = answer; /* the answer of start() is the end */
  if (fake.status == status && strcmp(fake.text, text) == 0) return;
  failures++;
  fprintf(stderr, "limit %s: status %d `%s`, not %d `%s`\n", limit ? limit : "absent", (int)fake.status,
          fake.text, (int)status, text);
}

int main(void) {
  const char *wrong = "`limit` must be an integer of 2 to 100000000";
  expect("2", BG_OK, BG_OK, "{\"count\":1,\"largest\":2}");
  expect("100", BG_OK, BG_OK, "{\"count\":25,\"largest\":97}");
  expect(0, BG_OK, BG_OK, "{\"count\":78498,\"largest\":999983}");
  if (fake.reports != 976) failures++, fprintf(stderr, "%d reports of progress, not 976\n", fake.reports);
  expect("1", BG_OK, BG_E_FINAL, wrong);
  expect("many", BG_OK, BG_E_FINAL, wrong);
  expect("100000001", BG_OK, BG_E_FINAL, wrong);
  expect(0, BG_WHY_EXPIRED, BG_E_CANCELLED, "");
  if (failures == 0) puts("all tests passed");
  return failures != 0;
}
