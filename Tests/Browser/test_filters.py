# SPDX-License-Identifier: Apache-2.0
"""What a page selects, and the command line that selects the same."""

import json
import re
import shlex

from conftest import expect, goto, wait_until

TRACE = "0af7651916cd43dd8448eb211c80319c"


def test_runs_by_each_condition_and_as_a_command(host, page):
    goto(page, "#/runs")
    table = page.get_by_role("table", name="Runs")
    page.get_by_label("Outcome").select_option("crashed")
    page.get_by_label("Plugin").select_option("wild")
    expect(table.get_by_role("link", name="test.crash").first).to_be_visible()
    expect(table.get_by_role("link", name="test.killed")).to_have_count(0)
    page.get_by_text("As a command").click()
    line = page.get_by_role("group", name="Command line")
    expect(line).to_have_text("bghost runs --state crashed --plugin wild")
    assert "test.crash" in host.run(*shlex.split(line.inner_text())[1:])

    goto(page, "#/runs?outcome=unsuccessful&task=test.fail")
    expect(line).to_have_text("bghost runs test.fail --failed")
    page.get_by_label("Filter by message").fill("mail.example")
    expect(line).to_have_text("bghost runs test.fail --failed --text mail.example")
    expect(table).to_contain_text("connection refused by mail.example.org")
    page.get_by_label("Filter by message").fill("no such message")
    expect(page.locator("main")).to_contain_text("No run matches the filter")

    goto(page, "#/runs?until=2020-01-01")
    expect(page.locator("main")).to_contain_text("No run matches the filter")
    # A time that is still being typed is no condition.
    page.get_by_label("Ended before").fill("2020-0")
    expect(page.get_by_role("alert")).to_contain_text("Give a time such as 03:00")
    expect(table.get_by_role("row")).not_to_have_count(0)

    goto(page, "#/runs?tag=night")
    expect(page.get_by_label("Tag")).to_have_value("night")
    expect(table.get_by_role("link", name="test.crash")).to_have_count(0)


def test_the_lines_of_one_run(host, page):
    run = host.last_run("test.crash")
    goto(page, f"#/runs/{run['id']}")
    page.get_by_role("link", name="Logs", exact=True).last.click()
    expect(page).to_have_url(re.compile(f"#/logs\\?run={run['id']}$"))
    log = page.get_by_role("log")
    expect(log).to_contain_text("run.ended")
    expect(log).not_to_contain_text("host.started")
    field = page.get_by_label("Filter by run")
    expect(field).to_have_value(run["id"])
    # An id that is still being typed is no condition.
    field.fill(run["id"][:9])
    expect(page.get_by_role("alert")).to_contain_text("26 characters")
    expect(log).to_contain_text("host.started")


def test_a_run_shows_its_trace(host, page):
    host.submit("test.echo", traceparent=f"00-{TRACE}-b7ad6b7169203331-01")
    wait_until(lambda: host.last_run("test.echo").get("traceparent", "")[3:35] == TRACE)
    run = host.last_run("test.echo")
    goto(page, f"#/runs/{run['id']}")
    expect(page.get_by_role("region", name="Facts")).to_contain_text(TRACE)


def test_what_a_reload_would_change(own, open_page):
    page = open_page(own.address())
    goto(page, "#/system")
    value = json.loads(own.config.read_text())
    value["tasks"]["test.hold"]["limits"]["runtime"] = "2h"
    value["tasks"]["test.added"] = value["tasks"]["test.echo"]
    own.write(value)
    page.get_by_role("button", name="Check the manifest").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("code")).to_have_text("bghost reload --dry-run")
    dialog.get_by_role("button", name="Check").click()
    report = page.get_by_role("region", name="What a reload would change")
    expect(report).to_contain_text("test.added")
    row = report.get_by_role("table", name="Changed keys").get_by_role("row", name="test.hold")
    expect(row).to_contain_text("limits.runtime")
    expect(row).to_contain_text("1h")
    expect(row).to_contain_text("2h")
    assert "test.added" not in [task["id"] for task in json.loads(own.run("status", "--json", code=5))["tasks"]]

    page.get_by_role("button", name="Reload the manifest").click()
    page.get_by_role("dialog").get_by_role("button", name="Reload").click()
    expect(page.get_by_role("region", name="Last reload")).to_contain_text("limits.runtime")
    page.get_by_role("button", name="Check the manifest").click()
    page.get_by_role("dialog").get_by_role("button", name="Check").click()
    expect(report).to_contain_text("A reload would change nothing")


def test_waiting_requests_by_tag_plugin_and_submitter(own, open_page):
    own.submit("test.family.one", earliestBegin="2090-01-01T00:00:00Z")
    page = open_page(own.address())
    goto(page, "#/waiting")
    rows = page.locator("main tbody tr")
    one = page.get_by_role("link", name="test.family.one", exact=True)
    expect(one).to_be_visible()
    page.get_by_label("Tag").select_option("night")
    expect(rows).to_have_count(2)
    expect(one).to_have_count(0)
    expect(page).to_have_url(re.compile("#/waiting\\?tag=night$"))
    page.get_by_role("button", name="Withdraw all").click()
    expect(page.get_by_role("dialog").locator("code")).to_have_text("bghost cancel --tag night --expect 2")
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    page.get_by_label("Tag").select_option("")
    page.get_by_role("combobox", name="By").select_option("operator")
    expect(rows).to_have_count(1)
    expect(one).to_be_visible()
    # The daemon withdraws no such selection.
    expect(page.get_by_role("button", name="Withdraw all")).to_have_count(0)
    page.get_by_role("combobox", name="Plugin").select_option("wild")
    expect(page.locator("main")).to_contain_text("No request matches the filter")


def test_what_happened_to_a_task(host, page, faults):
    faults.allowed.append("status of 400")
    run = host.trigger("test.echo", {"message": "noted"})
    goto(page, "#/tasks/test.echo")
    history = page.get_by_role("region", name="History")
    expect(history.get_by_role("table", name="Runs by day")).to_contain_text(run["endedAt"][:10])
    history.get_by_label("What happened at").fill(run["startedAt"])
    history.get_by_role("button", name="Show").click()
    expect(history).to_contain_text("succeeded")
    expect(page).to_have_url(re.compile("at="))
    page.reload()
    expect(history.get_by_label("What happened at")).to_have_value(run["startedAt"])
    expect(history).to_contain_text("succeeded")

    history.get_by_label("What happened at").fill("soon")
    history.get_by_label("What happened at").press("Enter")
    expect(history.get_by_role("alert")).to_contain_text("Give a time such as 03:00")
    history.get_by_label("What happened at").fill("2200-01-01")
    history.get_by_label("What happened at").press("Enter")
    expect(history).to_contain_text("is still to come (BG4020)")


def test_a_start_that_did_not_happen(own, open_page):
    value = json.loads(own.config.read_text())
    value["tasks"]["test.tick"] = {**value["tasks"]["test.echo"], "every": "1s"}
    own.write(value)
    own.run("reload")
    own.run("pause", "test.tick")
    wait_until(lambda: own.json("runs", "test.tick", "--skipped")["starts"])
    page = open_page(own.address())
    goto(page, "#/tasks/test.tick")
    starts = page.get_by_role("table", name="Starts that did not happen")
    expect(starts.get_by_role("row").nth(1)).to_contain_text("paused")
