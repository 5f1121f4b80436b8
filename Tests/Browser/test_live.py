# SPDX-License-Identifier: Apache-2.0
"""What the page does over time: filters, a daemon that is away, a hidden tab, the log."""

import json
import re

from conftest import expect, free_port, goto


def test_filters_survive_a_reload_and_going_back(page):
    goto(page, "#/tasks")
    page.get_by_label("State").select_option("failing")
    page.get_by_label("Filter by identifier").fill("crash")
    table = page.get_by_role("table", name="Tasks")
    expect(table.get_by_role("row")).to_have_count(2)
    expect(page).to_have_url(re.compile("#/tasks\\?state=failing&text=crash$"))
    page.reload()
    expect(page.get_by_label("Filter by identifier")).to_have_value("crash")
    expect(table.get_by_role("row")).to_have_count(2)
    table.get_by_role("link", name="test.crash").click()
    expect(page.get_by_role("heading", name="test.crash")).to_be_focused()
    page.go_back()
    expect(page.get_by_label("State")).to_have_value("failing")
    expect(page.get_by_label("Filter by identifier")).to_have_value("crash")
    expect(table.get_by_role("row")).to_have_count(2)


def test_runs_of_a_task(page):
    goto(page, "#/runs")
    page.get_by_label("Task").select_option("test.killed")
    table = page.get_by_role("table", name="Runs")
    expect(table.get_by_role("cell", name="killed: grace exceeded").first).to_be_visible()
    expect(table.get_by_role("link", name="test.crash")).to_have_count(0)


def test_older_runs_and_runs_that_did_not_succeed(host, page):
    for _ in range(55):
        host.trigger("test.echo")
    goto(page, "#/runs?task=test.echo")
    table = page.get_by_role("table", name="Runs")
    expect(table.get_by_role("row")).to_have_count(51)
    page.get_by_role("button", name="Older").click()
    expect(page.get_by_role("button", name="Newest")).to_be_visible()
    expect(table.get_by_role("row")).not_to_have_count(51)
    expect(table.get_by_role("link", name="test.echo").first).to_be_visible()
    goto(page, "#/runs?outcome=nonsense&since=x&before=y")
    expect(table.get_by_role("row")).to_have_count(51)
    page.get_by_label("Outcome").select_option("unsuccessful")
    expect(table.get_by_role("link", name="test.crash").first).to_be_visible()
    expect(table.get_by_role("cell", name="succeeded")).to_have_count(0)


def test_a_typed_filter_keeps_its_focus_while_the_page_refreshes(page):
    goto(page, "#/waiting")
    field = page.get_by_label("Filter by task or request")
    field.press_sequentially("blo")
    with page.expect_response(re.compile("/v1/status")):
        pass
    with page.expect_response(re.compile("/v1/pending")):
        pass
    field.press_sequentially("cked")
    expect(field).to_be_focused()
    expect(field).to_have_value("blocked")
    expect(page.get_by_role("link", name="test.blocked", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="test.late")).to_have_count(0)


def test_a_lost_connection_is_said_and_mended(page, faults):
    faults.allowed.append("ERR_FAILED")
    goto(page, "#/tasks")
    page.route("**/v1/**", lambda route: route.abort())
    banner = page.get_by_text("The daemon has not answered since")
    expect(banner).to_be_visible()
    expect(page.locator("body")).to_have_class("stale")
    # What was there is still there.
    expect(page.get_by_role("link", name="test.echo")).to_be_visible()
    page.unroute("**/v1/**")
    expect(banner).to_have_count(0)
    expect(page.locator("body")).not_to_have_class("stale")


def test_a_daemon_that_is_killed_and_restarted(own, open_page, faults):
    faults.allowed += ["ERR_", "status of 401"]
    # One that it can have again: no connection of another test gets it meanwhile.
    value = json.loads(own.config.read_text())
    value["host"]["dashboard"]["listen"] = f"127.0.0.1:{free_port()}"
    own.write(value)
    own.kill()
    own.start()
    page = open_page(own.address())
    goto(page, "#/tasks?text=long")
    expect(page.get_by_role("link", name="test.long")).to_be_visible()
    own.kill()
    expect(page.get_by_text("The daemon has not answered since")).to_be_visible()
    expect(page.get_by_role("link", name="test.long")).to_be_visible()

    own.start()
    # A session ends with its daemon; the place on the page does not.
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("restarted")
    page.goto(own.address())
    expect(page.get_by_label("Filter by identifier")).to_have_value("long")
    expect(page.get_by_text("The daemon has not answered since")).to_have_count(0)


def test_a_hidden_tab_sends_nothing(host, open_page):
    page = open_page()
    page.clock.install()
    page.add_init_script("window.isHidden = false; Object.defineProperty(document, 'hidden', { get: () => window.isHidden });")
    page.goto(host.address())
    goto(page, "#/logs")
    expect(page.get_by_role("log")).to_contain_text("host.started")
    asked = []
    page.on("request", lambda request: asked.append(request.url))

    def turn(hidden):
        page.evaluate("hidden => { window.isHidden = hidden; document.dispatchEvent(new Event('visibilitychange')) }", hidden)

    with page.expect_event("requestfailed", lambda request: "follow=true" in request.url):
        turn(True)
    asked.clear()
    page.clock.run_for(120_000)
    assert asked == []
    with page.expect_response(re.compile("/v1/logs.*follow=true")):
        turn(False)
    assert any("/v1/status" in url for url in asked)


def test_the_log_follows_filters_and_pauses(host, page):
    goto(page, "#/logs?task=test.echo")
    log = page.get_by_role("log")
    expect(log).to_contain_text("run.ended")
    before = log.locator(".log").count()
    host.trigger("test.echo")
    expect(log.locator(".log")).not_to_have_count(before)

    page.get_by_role("button", name="Pause").click()
    shown = log.locator(".log").count()
    host.trigger("test.echo")
    expect(page.get_by_role("button", name="Resume")).to_contain_text("new line")
    expect(log.locator(".log")).to_have_count(shown)
    page.get_by_role("button", name="Resume").click()
    expect(log.locator(".log")).not_to_have_count(shown)

    page.get_by_label("Level").select_option("error")
    expect(log.get_by_text("info", exact=True)).to_have_count(0)
    page.get_by_label("Task").select_option("")
    expect(log).to_contain_text("libbroken.so")


def test_a_task_that_is_not_there(page, faults):
    faults.allowed.append("status of 404")
    goto(page, "#/tasks/test.nothing")
    expect(page.locator("main")).to_contain_text("BG4013")
    goto(page, "#/nowhere")
    expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
