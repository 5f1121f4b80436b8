/* SPDX-License-Identifier: Apache-2.0 */
#include "bghost_page.h"

/* #embed is of C23; clang has it in each language. */
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "page/index.html"
};
static const unsigned char actions_js[] = {
#embed "page/actions.js"
};
static const unsigned char api_js[] = {
#embed "page/api.js"
};
static const unsigned char app_css[] = {
#embed "page/app.css"
};
static const unsigned char audit_js[] = {
#embed "page/audit.js"
};
static const unsigned char chart_js[] = {
#embed "page/chart.js"
};
static const unsigned char dead_js[] = {
#embed "page/dead.js"
};
static const unsigned char dom_js[] = {
#embed "page/dom.js"
};
static const unsigned char history_js[] = {
#embed "page/history.js"
};
static const unsigned char icon_svg[] = {
#embed "page/icon.svg"
};
static const unsigned char logs_js[] = {
#embed "page/logs.js"
};
static const unsigned char main_js[] = {
#embed "page/main.js"
};
static const unsigned char overview_js[] = {
#embed "page/overview.js"
};
static const unsigned char parameters_js[] = {
#embed "page/parameters.js"
};
static const unsigned char parts_js[] = {
#embed "page/parts.js"
};
static const unsigned char plugins_js[] = {
#embed "page/plugins.js"
};
static const unsigned char run_js[] = {
#embed "page/run.js"
};
static const unsigned char runs_js[] = {
#embed "page/runs.js"
};
static const unsigned char schedule_js[] = {
#embed "page/schedule.js"
};
static const unsigned char system_js[] = {
#embed "page/system.js"
};
static const unsigned char task_js[] = {
#embed "page/task.js"
};
static const unsigned char tasks_js[] = {
#embed "page/tasks.js"
};
static const unsigned char time_js[] = {
#embed "page/time.js"
};
static const unsigned char waiting_js[] = {
#embed "page/waiting.js"
};

#define HTML   "text/html; charset=utf-8"
#define CSS    "text/css; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"
#define IMAGE  "image/svg+xml"

#define PAGE(name, type, bytes) { name, type, bytes, sizeof bytes }

/* A test compares it with the folder. */
static const bghost_page_file files[] = {
  PAGE("index.html", HTML, index_html),
  PAGE("actions.js", SCRIPT, actions_js),
  PAGE("api.js", SCRIPT, api_js),
  PAGE("app.css", CSS, app_css),
  PAGE("audit.js", SCRIPT, audit_js),
  PAGE("chart.js", SCRIPT, chart_js),
  PAGE("dead.js", SCRIPT, dead_js),
  PAGE("dom.js", SCRIPT, dom_js),
  PAGE("history.js", SCRIPT, history_js),
  PAGE("icon.svg", IMAGE, icon_svg),
  PAGE("logs.js", SCRIPT, logs_js),
  PAGE("main.js", SCRIPT, main_js),
  PAGE("overview.js", SCRIPT, overview_js),
  PAGE("parameters.js", SCRIPT, parameters_js),
  PAGE("parts.js", SCRIPT, parts_js),
  PAGE("plugins.js", SCRIPT, plugins_js),
  PAGE("run.js", SCRIPT, run_js),
  PAGE("runs.js", SCRIPT, runs_js),
  PAGE("schedule.js", SCRIPT, schedule_js),
  PAGE("system.js", SCRIPT, system_js),
  PAGE("task.js", SCRIPT, task_js),
  PAGE("tasks.js", SCRIPT, tasks_js),
  PAGE("time.js", SCRIPT, time_js),
  PAGE("waiting.js", SCRIPT, waiting_js),
};

const bghost_page_file *bghost_pages(void) { return files; }

size_t bghost_page_count(void) { return sizeof files / sizeof *files; }
