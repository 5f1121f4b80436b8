/* SPDX-License-Identifier: Apache-2.0
 * Each run is completed by another thread, while start() is still on its way back. The host must tell
 * each completion once, and before the run's release. */
#include <bghost.h>
#include <pthread.h>
#include <semaphore.h>

BG_NOTE("abi=1.0;id=org.example.elsewhere;runtime=c");

static const bg_host *host;
static sem_t          wanted;
static bg_run         runs[64];
static unsigned       written;

static void *complete_all(void *ignored) {
  (void)ignored;
  for (unsigned n = 0;; n++) {
    while (sem_wait(&wanted)) {
    }
    bg_result ok = { sizeof ok, BG_OK, { 0, 0 }, { 0, 0 }, 0 };
    host->complete(host, runs[n % 64], &ok);
  }
  return 0;
}

static bg_status start(void *plugin, const bg_run_info *info) {
  (void)plugin;
  runs[written++ % 64] = info->run;
  sem_post(&wanted);
  return BG_PENDING;
}

static void released(void *plugin, bg_run run, void *state) {
  (void)plugin, (void)run, (void)state;
}

static bg_status open_plugin(const bg_host *given, bg_str config, void **plugin) {
  pthread_t thread;
  (void)given, (void)config, (void)plugin;
  sem_init(&wanted, 0, 0);
  return pthread_create(&thread, 0, complete_all, 0) ? BG_E_FAILED : BG_OK;
}

static const bg_task plain = { sizeof plain, 0, BG_LIT("plain"), { 0, 0 }, start, 0, 0 };
static const bg_task with_release = { sizeof with_release, 0, BG_LIT("with-release"), { 0, 0 },
                                      start, 0, released };
static const bg_task *const tasks[] = { &plain, &with_release };
static const bg_plugin me = { sizeof me, 1, 0, BG_LIT("org.example.elsewhere"), BG_LIT("1.0.0"),
                              BG_LIT("Example"), 0, 2, tasks, open_plugin, 0, 0 };
const bg_plugin *bghost_plugin_v1(const bg_host *given) {
  host = given;
  return &me;
}
