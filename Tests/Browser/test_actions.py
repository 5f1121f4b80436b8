# SPDX-License-Identifier: Apache-2.0
"""What an operator does, and what the page says about it."""

import json
import shutil

from conftest import expect, goto, wait_until


def notice(page):
    return page.locator("#notices")


def wait_for_dead(daemon, task, letters):
    """Returns when a task has so many dead letters."""
    wait_until(lambda: len(daemon.json("dead", task)["deadLetters"]) == letters)


def test_run_now_shows_a_live_row_until_the_run_is_stopped(host, page):
    goto(page, "#/tasks")
    page.get_by_role("button", name="Run test.hold now").click()
    dialog = page.get_by_role("dialog", name="Run now")
    expect(dialog).to_contain_text("test.hold")
    dialog.get_by_label("Parameters").fill('{"album": "it\'s"}')
    expect(dialog.locator("code")).to_have_text("""bghost trigger test.hold --parameters '{"album":"it'\\''s"}'""")
    dialog.get_by_role("button", name="Run now").click()
    expect(notice(page)).to_contain_text("Requested a run of test.hold")
    expect(dialog).to_have_count(0)

    goto(page, "#/")
    row = page.get_by_role("table", name="Runs in progress").get_by_role("row", name="test.hold")
    expect(row).to_contain_text("62 %")
    expect(row).to_contain_text("of 1 h")
    row.get_by_role("link", name="run").click()
    expect(page.locator(".lead")).to_contain_text("running")

    page.get_by_role("button", name="Stop").click()
    dialog = page.get_by_role("dialog", name="Stop the run")
    expect(dialog).to_contain_text("It is killed if it has not ended after 50 s")
    run = host.last_run("test.hold")["id"]
    expect(dialog.locator("code")).to_have_text(f"bghost stop {run}")
    dialog.get_by_role("button", name="Stop the run").click()
    expect(page.locator(".lead")).to_contain_text("cancelled")
    expect(page.get_by_role("region", name="Timeline")).to_contain_text("Asked to stop")
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)


def test_parameters_that_are_no_object_are_refused_in_the_dialog(page):
    goto(page, "#/tasks/test.echo")
    page.get_by_role("button", name="Run now").click()
    dialog = page.get_by_role("dialog")
    for text, message in (("{", "are not JSON"), ("[1]", "are not a JSON object")):
        dialog.get_by_label("Parameters").fill(text)
        dialog.get_by_role("button", name="Run now").click()
        expect(dialog.get_by_role("alert")).to_contain_text(message)
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("button", name="Run now")).to_be_focused()


def test_a_refusal_of_the_daemon_is_shown_in_the_dialog(page, faults):
    faults.allowed.append("status of 409")
    goto(page, "#/system")
    page.get_by_role("button", name="Back up the state").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Folder").fill("/nonexistent/copy.db")
    expect(dialog.locator("code")).to_have_text("bghost backup /nonexistent/copy.db")
    dialog.get_by_role("button", name="Back up").click()
    expect(dialog.get_by_role("alert")).to_contain_text("BG4024")


def test_a_backup(host, page):
    goto(page, "#/system")
    page.get_by_role("button", name="Back up the state").click()
    folder = host.folder / "state" / "copy"
    page.get_by_role("dialog").get_by_label("Folder").fill(str(folder))
    page.get_by_role("dialog").get_by_role("button", name="Back up").click()
    expect(notice(page)).to_contain_text(f"to {folder}")
    assert (folder / "bghost.sqlite").stat().st_size > 0
    shutil.rmtree(folder)


def test_dead_letters_are_redriven_and_discarded(host, page):
    goto(page, "#/dead?task=test.mail")
    panel = page.get_by_role("region", name="test.mail")
    for rows in (2, 3):
        host.run("submit", "test.mail")
        expect(panel.get_by_role("row")).to_have_count(rows)
    # A row of its own comes back: the request dies again.
    panel.get_by_role("button", name="Redrive …").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Redrive").click()
    expect(notice(page)).to_contain_text("Redrove 1 dead letter")
    wait_for_dead(host, "test.mail", 2)
    # What it shows then is from after the death.
    goto(page, "#/")
    goto(page, "#/dead?task=test.mail")
    panel.get_by_role("button", name="Discard all").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("This cannot be undone")
    expect(dialog.locator("code")).to_have_text("bghost discard --task test.mail --expect 2")
    dialog.get_by_role("button", name="Discard 2 dead letters").click()
    expect(notice(page)).to_contain_text("Deleted 2 dead letters")


def test_dead_letters_that_have_become_more_are_not_discarded(own, open_page, faults):
    faults.allowed.append("status of 409")
    own.submit("test.mail")
    wait_for_dead(own, "test.mail", 1)
    page = open_page(own.address())
    goto(page, "#/dead?task=test.mail")
    panel = page.get_by_role("region", name="test.mail")
    panel.get_by_role("button", name="Discard all").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("(1 now)")
    own.submit("test.mail")
    wait_for_dead(own, "test.mail", 2)
    dialog.get_by_role("button", name="Discard 1 dead letter").click()
    expect(dialog.get_by_role("alert")).to_contain_text("1 dead letter was expected, and there are 2. (BG4074)")
    assert len(own.json("dead", "test.mail")["deadLetters"]) == 2

    dialog.get_by_role("button", name="Cancel").click()
    expect(panel.get_by_role("row")).to_have_count(3)
    panel.get_by_role("button", name="Discard all").click()
    page.get_by_role("dialog").get_by_role("button", name="Discard 2 dead letters").click()
    expect(notice(page)).to_contain_text("Deleted 2 dead letters")
    assert own.json("dead", "test.mail")["deadLetters"] == []


def test_a_plugin_is_disabled_and_enabled(host, page):
    goto(page, "#/plugins?text=broken")
    page.get_by_role("button", name="Disable broken").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("waits for a new library")
    expect(dialog.locator("code")).to_have_text("bghost disable broken --reason 'waits for a new library'")
    dialog.get_by_role("button", name="Disable").click()
    expect(page.get_by_role("region", name="broken")).to_contain_text("waits for a new library")
    page.get_by_role("button", name="Enable broken").click()
    page.get_by_role("dialog").get_by_role("button", name="Enable").click()
    expect(page.get_by_role("button", name="Disable broken")).to_be_visible()


def test_a_reload_reports_what_changed(own, open_page):
    page = open_page(own.address())
    goto(page, "#/system")
    value = json.loads(own.config.read_text())
    value["tasks"]["test.added"] = value["tasks"]["test.echo"]
    own.write(value)
    page.get_by_role("button", name="Reload the manifest").click()
    page.get_by_role("dialog").get_by_role("button", name="Reload").click()
    expect(page.get_by_role("region", name="Last reload")).to_contain_text("test.added")
    goto(page, "#/tasks?text=added")
    expect(page.get_by_role("link", name="test.added")).to_be_visible()


def test_pending_requests_are_withdrawn(own, open_page, faults):
    faults.allowed.append("status of 409")
    page = open_page(own.address())
    goto(page, "#/waiting")
    page.get_by_role("button", name="Withdraw the requests of test.blocked").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("(1 now)")
    expect(dialog.locator("code")).to_have_text("bghost cancel test.blocked --expect 1")
    # Another operator is faster.
    own.run("cancel", "test.blocked")
    dialog.get_by_role("button", name="Withdraw 1 request").click()
    expect(dialog.get_by_role("alert")).to_contain_text("1 pending request was expected, and there are 0. (BG4074)")
    dialog.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("link", name="test.blocked")).to_have_count(0)

    own.submit("test.blocked")
    page.get_by_role("button", name="Withdraw the requests of test.blocked").click()
    page.get_by_role("dialog").get_by_role("button", name="Withdraw 1 request").click()
    expect(notice(page)).to_contain_text("Withdrew 1 request of test.blocked")
    expect(page.get_by_role("link", name="test.blocked")).to_have_count(0)


def test_all_requests_of_the_list_are_withdrawn(own, open_page):
    page = open_page(own.address())
    goto(page, "#/waiting?task=test.blocked")
    page.get_by_role("button", name="Withdraw all").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("code")).to_have_text("bghost cancel test.blocked --expect 1")
    dialog.get_by_role("button", name="Withdraw 1 request").click()
    expect(notice(page)).to_contain_text("Withdrew 1 request of test.blocked")
    expect(page.get_by_role("button", name="Withdraw all")).to_have_count(0)
    goto(page, "#/waiting?text=late")
    expect(page.get_by_role("button", name="Withdraw all")).to_have_count(0)


def test_a_member_of_a_family_runs(host, page):
    goto(page, "#/tasks/test.family.*")
    page.get_by_role("button", name="Run now").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Identifier").fill("one")
    expect(dialog.locator("code")).to_have_text("bghost trigger test.family.one")
    dialog.get_by_role("button", name="Run now").click()
    notice(page).get_by_role("link").click()
    expect(page.get_by_role("table", name="Runs of the task")).to_contain_text("succeeded")


def test_a_task_is_paused_and_resumed(host, page):
    goto(page, "#/tasks/test.echo")
    page.get_by_role("button", name="Pause").click()
    dialog = page.get_by_role("dialog", name="Pause")
    dialog.get_by_label("Until").fill("2100-01-01 06:00")
    dialog.get_by_label("Reason").fill("new disk")
    expect(dialog.locator("code")).to_have_text("bghost pause test.echo --until '2100-01-01 06:00' --reason 'new disk'")
    dialog.get_by_role("button", name="Pause").click()
    expect(notice(page)).to_contain_text("Paused test.echo")
    expect(page.locator(".lead")).to_contain_text("paused by uid")
    expect(page.locator(".lead")).to_contain_text("new disk")
    assert host.json("pause", "--list")["pauses"][0]["name"] == "test.echo"

    goto(page, "#/tasks?state=paused")
    expect(page.get_by_role("table", name="Tasks")).to_contain_text("test.echo")
    page.get_by_role("button", name="Resume test.echo").click()
    dialog = page.get_by_role("dialog", name="Resume")
    expect(dialog.locator("code")).to_have_text("bghost resume test.echo")
    dialog.get_by_role("button", name="Resume").click()
    expect(notice(page)).to_contain_text("Resumed test.echo")
    assert host.json("pause", "--list")["pauses"] == []


def test_a_form_asks_for_the_parameters_of_a_schema(own, open_page, faults):
    faults.allowed.append("status of 422")
    value = json.loads(own.config.read_text())
    value["tasks"]["test.echo"]["parametersSchema"] = {
        "required": ["path"],
        "properties": {
            "path": {"type": "string", "minLength": 1, "description": "the folder to clean"},
            "retries": {"type": "integer", "maximum": 10},
            "mode": {"enum": ["fast", "small"]},
            "deep": {"type": "boolean"},
            "tree": {"type": "object"},
        },
    }
    own.write(value)
    own.run("reload")
    page = open_page(own.address())
    goto(page, "#/tasks/test.echo")
    page.get_by_role("button", name="Run now").click()
    dialog = page.get_by_role("dialog", name="Run now")
    expect(dialog).to_contain_text("required; the folder to clean")
    expect(dialog.get_by_label("tree", exact=True)).to_have_count(0)
    dialog.get_by_label("retries", exact=True).fill("12")
    dialog.get_by_label("mode", exact=True).select_option("small")
    dialog.get_by_label("deep", exact=True).select_option("true")
    dialog.get_by_label("Other parameters").fill('{"tree": {}}')
    expect(dialog.locator("code")).to_have_text("""bghost trigger test.echo --parameters '{"tree":{},"retries":12,"mode":"small","deep":true}'""")
    dialog.get_by_role("button", name="Run now").click()
    expect(dialog.get_by_role("alert", name="Fault of retries")).to_contain_text("12 is above the maximum 10")
    expect(dialog.get_by_role("alert", name="Fault of path")).to_contain_text("it is missing; a string is wanted")
    expect(dialog.get_by_role("alert", name="Fault of mode")).to_be_empty()
    dialog.get_by_label("path", exact=True).fill("/srv")
    dialog.get_by_label("retries", exact=True).fill("3")
    dialog.get_by_role("button", name="Run now").click()
    expect(notice(page)).to_contain_text("Requested a run of test.echo")
    expect(page.get_by_role("table", name="Runs of the task")).to_contain_text("succeeded")
    run = own.last_run("test.echo")
    assert run["result"] == {"tree": {}, "path": "/srv", "retries": 3, "mode": "small", "deep": True}


def test_a_form_asks_for_the_parameters_of_a_handlers_own_schema(own, open_page, faults):
    faults.allowed.append("status of 422")
    value = json.loads(own.config.read_text())
    # The manifest has no schema: the library of the plugin has it.
    value["tasks"]["test.measure"] = {"plugin": "calm", "handler": "measure"}
    own.write(value)
    own.run("reload")
    # It waits until the daemon has read the schemas of the plugin.
    own.trigger("test.measure", {"city": "Oslo"})
    page = open_page(own.address())
    goto(page, "#/tasks/test.measure")
    page.get_by_role("button", name="Run now").click()
    dialog = page.get_by_role("dialog", name="Run now")
    expect(dialog).to_contain_text("required; where to measure")
    dialog.get_by_label("days", exact=True).fill("17")
    dialog.get_by_label("unit", exact=True).select_option("metric")
    expect(dialog.locator("code")).to_have_text("""bghost trigger test.measure --parameters '{"days":17,"unit":"metric"}'""")
    dialog.get_by_role("button", name="Run now").click()
    expect(dialog.get_by_role("alert", name="Fault of days")).to_contain_text("17 is above the maximum 16")
    expect(dialog.get_by_role("alert", name="Fault of city")).to_contain_text("it is missing; a string is wanted")
    expect(dialog.get_by_role("alert", name="Fault of unit")).to_be_empty()
    dialog.get_by_label("city", exact=True).fill("Paris")
    dialog.get_by_label("days", exact=True).fill("3")
    dialog.get_by_role("button", name="Run now").click()
    expect(notice(page)).to_contain_text("Requested a run of test.measure")
    expect(page.get_by_role("table", name="Runs of the task").get_by_text("succeeded")).to_have_count(2)
    assert own.last_run("test.measure")["result"] == {"city": "Paris", "days": 3, "unit": "metric"}
