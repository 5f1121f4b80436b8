# SPDX-License-Identifier: Apache-2.0
"""Tags of tasks, and what follows a run."""

import re

from conftest import MARKUP, expect, goto
from test_pages import faults_of, too_wide


def test_tags_select_tasks(page):
    goto(page, "#/tasks")
    rows = page.locator("main tbody tr")
    blocked = rows.filter(has=page.get_by_role("link", name="test.blocked", exact=True))
    expect(blocked.get_by_role("link", name="tag night")).to_be_visible()
    choice = page.get_by_role("combobox", name="Tag")
    choice.select_option("eu")
    expect(rows).to_have_count(1)
    expect(page).to_have_url(re.compile("#/tasks\\?tag=eu$"))
    blocked.get_by_role("link", name="tag night").click()
    expect(rows).to_have_count(2)
    expect(choice).to_have_value("night")
    choice.select_option("")
    expect(rows.filter(has=page.get_by_role("link", name="test.echo", exact=True))).to_have_count(1)


def test_a_task_has_its_tags(page):
    goto(page, "#/tasks/test.blocked")
    definition = page.get_by_role("region", name="Definition")
    expect(definition.get_by_role("link", name="tag eu")).to_be_visible()
    definition.get_by_role("link", name="tag night").click()
    expect(page).to_have_url(re.compile("#/tasks\\?tag=night$"))
    goto(page, "#/tasks/test.echo")
    expect(page.get_by_role("region", name="Definition")).to_contain_text("Kind")
    expect(page.get_by_role("region", name="Definition")).not_to_contain_text("Tags")


def test_a_tag_that_no_task_has(page):
    goto(page, "#/tasks?tag=gone")
    expect(page.locator("main")).to_contain_text("No task matches the filter.")
    expect(page.get_by_role("combobox", name="Tag")).to_have_value("gone")


def test_a_tag_is_text(page):
    def spoil(route):
        answer = route.fetch()
        value = answer.json()
        for task in value["tasks"]:
            task["tags"] = [MARKUP]
        route.fulfill(response=answer, json=value)

    page.route("**/v1/status*", spoil)
    for route in ("#/tasks", "#/tasks/test.echo"):
        goto(page, route)
        main = page.locator("main")
        expect(main).to_contain_text("<img src=x onerror=")
        assert main.locator("img, script, iframe").count() == 0
        assert page.title() != "owned"
    page.unroute_all(behavior="ignoreErrors")


def test_a_run_links_its_predecessor_and_its_followers(own, open_page):
    first = own.trigger("test.first")["id"]
    page = open_page(own.address())
    goto(page, f"#/runs/{first}")
    followers = page.get_by_role("region", name="Followers")
    runs = followers.get_by_role("table", name="Runs that follow the run")
    expect(runs.locator("tbody tr")).to_have_count(1)
    expect(runs).to_contain_text("succeeded")
    waiting = followers.get_by_role("table", name="Waiting requests that follow the run")
    expect(waiting.get_by_role("link", name="test.unmet")).to_be_visible()
    expect(waiting.locator("tbody tr")).to_have_count(1)
    facts = page.get_by_role("region", name="Facts")
    expect(facts).not_to_contain_text("Predecessor")
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 900})
        assert faults_of(page) + too_wide(page) == []
    runs.get_by_role("link", name=re.compile("^run ")).click()
    expect(facts).to_contain_text("Predecessor")
    expect(followers).to_have_count(0)
    facts.get_by_role("link", name=f"run {first}").click()
    expect(page).to_have_url(re.compile(f"#/runs/{first}$"))
    expect(runs.locator("tbody tr")).to_have_count(1)
