# SPDX-License-Identifier: Apache-2.0
"""The coming starts of schedules."""

import json

from conftest import HOSTILE, expect, goto


def with_tasks(daemon, tasks, **host):
    """Puts a manifest with further tasks in force."""
    value = json.loads(daemon.config.read_text())
    value["host"].update(host)
    for name, keys in tasks.items():
        value["tasks"][name] = {"plugin": "calm", "handler": "echo", "kind": "processing", **keys}
    daemon.write(value)
    daemon.run("reload")


def test_a_change_of_the_clock_is_said(own, open_page):
    berlin = {"calendar": "30 2 * * *", "timeZone": "Europe/Berlin"}
    with_tasks(own, {"test.skips": {**berlin, "gap": "skip"}, "test.moves": berlin, "test.noon": {"calendar": "0 12 * * *", "timeZone": "Europe/Berlin"}})
    own.run("simulate", "clock", "2040-03-24T12:00:00Z")
    page = open_page(own.address(), timezone_id="Europe/Berlin")
    goto(page, "#/schedule")
    changes = page.get_by_role("region", name="Clock changes")
    expect(changes).to_contain_text("Europe/Berlin goes forward from 02:00 to 03:00")
    expect(changes.get_by_text("leaves out a start of")).to_contain_text("test.skips")
    expect(changes.get_by_text("leaves out the time of")).to_contain_text("test.moves")
    row = page.get_by_role("table", name="Next starts").get_by_role("row", name="test.moves")
    expect(row).to_contain_text("03:00 Europe/Berlin")
    expect(row).to_contain_text("moved to the first time after the gap")
    expect(page.get_by_role("img", name="test.skips: no start that is listed")).to_be_visible()
    expect(page.get_by_role("img", name="test.noon: 1 start, the first")).to_be_visible()

    # Seven days have the next starts of the skipped task, too.
    page.get_by_label("Show").select_option("7d")
    expect(page.get_by_role("img", name="test.noon: 7 starts")).to_be_visible()
    expect(page.get_by_role("img", name="test.skips: 6 starts")).to_be_visible()

    goto(page, "#/tasks/test.skips")
    starts = page.get_by_role("table", name="Next starts")
    expect(starts.get_by_role("row")).to_have_count(11)
    expect(starts.get_by_role("row").nth(1)).to_contain_text("02:30 Europe/Berlin")


def test_a_time_that_comes_twice(own, open_page):
    with_tasks(own, {"test.both": {"calendar": "30 2 * * *", "timeZone": "Europe/Berlin", "fold": "both"}})
    own.run("simulate", "clock", "2040-10-27T12:00:00Z")
    page = open_page(own.address())
    goto(page, "#/schedule?text=both")
    expect(page.get_by_role("region", name="Clock changes")).to_contain_text("goes back from 03:00 to 02:00")
    expect(page.get_by_role("region", name="Clock changes")).to_contain_text("shows the time of test.both twice")
    expect(page.get_by_role("table", name="Next starts").get_by_role("row", name="test.both")).to_have_count(2)


def test_more_starts_at_once_than_slots(own, open_page):
    # Midnight may pass during the test, but not twice.
    with_tasks(own, {f"test.crowd{number}": {"calendar": "0 0 * * *"} for number in range(9)} | {"test.often": {"every": "10s"}, "test.spread": {"calendar": "0 0 * * *", "timeZone": "UTC", "randomDelay": "10m"}})
    page = open_page(own.address())
    goto(page, "#/schedule")
    crowd = page.get_by_role("table", name="Moments with more starts than slots").get_by_role("row", name="9 for 8 slots")
    expect(crowd).to_contain_text("test.crowd0")
    expect(crowd).to_contain_text("and 1 more")
    # One that is delayed at random does not start with the others.
    page.get_by_label("Filter by task").fill("spread")
    expect(page.get_by_role("table", name="Next starts").get_by_role("row", name="test.spread")).to_contain_text("at random until 00:10")
    page.get_by_label("Filter by task").fill("")
    often = page.get_by_role("listitem").filter(has_text="test.often")
    expect(often).to_contain_text("the first 200 are marked")
    # A task that starts often does not hide the others.
    expect(page.get_by_role("img", name="test.crowd8: 1 start, the first")).to_be_visible()
    page.get_by_label("Filter by task").fill("crowd8")
    expect(page.get_by_role("img")).to_have_count(1)
    page.get_by_label("Filter by task").fill("nothing like this")
    expect(page.locator("main")).to_contain_text("No schedule of this time matches the filter")


def test_the_texts_of_others_are_inert(page):
    plan = {
        "schema": "bghost.plan/1",
        "from": "2040-03-24T12:00:00Z",
        "until": "2040-03-31T12:00:00Z",
        "hasMore": True,
        "starts": [{"task": HOSTILE, "start": "2040-03-25T12:00:00Z", "zone": HOSTILE, "zoneOffsetSeconds": 0, "note": HOSTILE}],
        "frequent": [{"task": HOSTILE, "count": 9, "listedUntil": "2040-03-25T12:00:00Z"}],
        "clockChanges": [{"zone": HOSTILE, "at": "2040-03-25T01:00:00Z", "offsetBeforeSeconds": 3600, "offsetAfterSeconds": 7200, "skipped": [HOSTILE]}],
    }
    page.route("**/v1/plan*", lambda route: route.fulfill(status=200, content_type="application/json", body=json.dumps(plan)))
    goto(page, "#/schedule")
    expect(page.get_by_role("region", name="Clock changes")).to_contain_text("<img src=x onerror=")
    assert page.title() != "owned"
    assert page.locator("main").locator("img, script, iframe").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
