# SPDX-License-Identifier: Apache-2.0
"""Lists that are longer than one page."""

import json
import re

from conftest import expect, goto


def keys(page):
    """The rows of the page, by what they show."""
    return page.locator("main tbody tr").evaluate_all("rows => rows.map(row => row.dataset.key)")


def add_family(daemon, name, like):
    value = json.loads(daemon.config.read_text())
    value["tasks"][name] = value["tasks"][like]
    daemon.write(value)
    daemon.run("reload")


def test_waiting_requests_page_through(own, open_page, faults):
    for number in range(120):
        own.submit(f"test.family.{number:03}", earliestBegin="2090-01-01T00:00:00Z")
    page = open_page(own.address())
    goto(page, "#/waiting")
    rows = page.locator("main tbody tr")
    further, first = (page.get_by_role("button", name=name, exact=True) for name in ("Next", "First"))
    expect(rows).to_have_count(100)
    expect(first).to_have_count(0)
    before = keys(page)
    further.click()
    # The last page has come.
    expect(further).to_have_count(0)
    expect(first).to_be_visible()
    after = keys(page)
    assert len(before) == 100 and not set(before) & set(after)
    tasks = set(page.locator("main tbody a.name").all_inner_texts())
    first.click()
    expect(further).to_be_visible()
    tasks |= set(page.locator("main tbody a.name").all_inner_texts())
    assert {f"test.family.{number:03}" for number in range(120)} <= tasks

    # A text is looked for beyond the first page, and from the beginning of the list.
    further.click()
    expect(further).to_have_count(0)
    page.get_by_label("Filter by task or request").fill("family.11")
    expect(rows).to_have_count(10)
    expect(page).to_have_url(re.compile("#/waiting\\?text=family.11$"))
    page.get_by_label("Filter by task or request").fill("")
    expect(rows).to_have_count(100)

    # A reload orders the list anew: the page begins with its first part again.
    further.click()
    expect(further).to_have_count(0)
    faults.allowed.append("status of 410")
    add_family(own, "test.new.*", "test.family.*")
    expect(first).to_have_count(0)
    expect(rows).to_have_count(100)
    expect(page).to_have_url(re.compile("#/waiting$"))


def test_the_waiting_requests_of_one_task(own, open_page):
    own.submit("test.family.one", earliestBegin="2090-01-01T00:00:00Z")
    page = open_page(own.address())
    goto(page, "#/waiting")
    page.get_by_role("combobox", name="Task").select_option("test.late")
    expect(page.locator("main tbody tr")).to_have_count(1)
    expect(page.get_by_role("link", name="test.late", exact=True)).to_be_visible()
    expect(page.get_by_role("search").get_by_role("status")).to_have_text("1 request")


def test_dead_letters_page_through(own, open_page):
    add_family(own, "test.lost.*", "test.mail")
    for number in range(60):
        own.submit(f"test.lost.{number:03}")
    page = open_page(own.address())
    goto(page, "#/dead")
    # Those, and that of test.fail: they die one after another, and the page shows the newest.
    expect(page.get_by_role("search").get_by_role("status")).to_have_text("61 dead letters, newest first")
    rows = page.locator("main tbody tr")
    older, newest = (page.get_by_role("button", name=name, exact=True) for name in ("Older", "Newest"))
    expect(rows).to_have_count(50)
    expect(newest).to_have_count(0)
    before = keys(page)
    older.click()
    expect(older).to_have_count(0)
    expect(rows).to_have_count(11)
    after = keys(page)
    assert len(before) == 50 and not set(before) & set(after)
    # What dies meanwhile is on the newest page.
    own.submit("test.lost.060")
    expect(page.get_by_role("search").get_by_role("status")).to_have_text("62 dead letters, older")
    assert keys(page) == after
    newest.click()
    expect(page.get_by_role("link", name="test.lost.060")).to_be_visible()
    expect(newest).to_have_count(0)
