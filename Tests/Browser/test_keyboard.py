# SPDX-License-Identifier: Apache-2.0
"""Everything without a pointer."""

import datetime

from conftest import expect, goto


def test_skip_link_and_keys(page):
    expect(page.get_by_role("region", name="Running")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    # The second key counts for a while after the first, which is no time on a clock that stands still.
    page.clock.set_fixed_time(datetime.datetime.now())
    for key, title in (("t", "Tasks"), ("r", "Runs"), ("w", "Waiting"), ("d", "Dead letters"), ("c", "Schedule"), ("p", "Plugins"), ("l", "Logs"), ("a", "Audit"), ("s", "System"), ("o", "Overview")):
        page.keyboard.press("g")
        page.keyboard.press(key)
        # A reader of the screen begins at the heading.
        expect(page.get_by_role("heading", name=title, level=1)).to_be_focused()


def test_a_slash_goes_to_the_filter(page):
    goto(page, "#/tasks")
    page.keyboard.press("/")
    field = page.get_by_label("Filter by identifier")
    expect(field).to_be_focused()
    # In a field they are letters.
    page.keyboard.type("g/o?")
    expect(field).to_have_value("g/o?")


def test_the_keys_can_be_switched_off(page):
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard")
    expect(dialog).to_be_visible()
    dialog.get_by_label("Use these keys").press("Space")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.keyboard.press("?")
    page.keyboard.press("g")
    page.keyboard.press("t")
    expect(page.get_by_role("heading", name="Overview")).to_be_attached()
    assert page.get_by_role("dialog").count() == 0


def test_run_and_stop_without_a_pointer(host, page):
    goto(page, "#/tasks/test.hold")
    expect(page.get_by_role("heading", name="test.hold")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Run now")).to_be_focused()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Run now").focus()
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    link = page.get_by_role("table", name="Runs in progress").get_by_role("link", name="run").first
    link.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    stop = page.get_by_role("button", name="Stop")
    stop.focus()
    page.keyboard.press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Stop the run").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".lead")).to_contain_text("cancelled")
