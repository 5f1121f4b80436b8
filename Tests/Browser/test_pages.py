# SPDX-License-Identifier: Apache-2.0
"""Each page in each appearance: no accessibility fault, nothing beside the screen."""

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from conftest import expect, goto

APPEARANCES = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "forced colours": {"forced_colors": "active"},
    "360 px": {"viewport": {"width": 360, "height": 800}},
}
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
#: The rules that look at what is drawn; the others find in each appearance what they find in the first.
DRAWN = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"]


def faults_of(page, appearance="light"):
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    only = {"type": "tag", "values": RULES} if appearance in ("light", "360 px") else {"type": "rule", "values": DRAWN}
    found = page.evaluate("options => axe.run(document, options)", {"runOnly": only, "resultTypes": ["violations"]})["violations"]
    return [f"{each['id']}: {[node['html'][:200] for node in each['nodes']][:3]}" for each in found]


def too_wide(page):
    """What is wider than its place."""
    return page.evaluate(
        """() => [document.documentElement, ...document.querySelectorAll(".panel:not(.logs), .tiles")]
            .filter(each => each.scrollWidth > each.clientWidth + 1)
            .map(each => `${each.className} ${each.querySelector("h2")?.textContent ?? ""}: ${each.scrollWidth} of ${each.clientWidth} px`)"""
    )


@pytest.mark.parametrize("appearance", APPEARANCES)
def test_each_page(host, open_page, appearance):
    page = open_page(host.address(), **APPEARANCES[appearance])
    crash, long = (host.last_run(task)["id"] for task in ("test.crash", "test.long"))
    routes = [
        "#/",
        "#/tasks",
        "#/tasks/test.blocked",
        "#/tasks/test.fail",
        "#/runs",
        f"#/runs/{crash}",
        f"#/runs/{long}",
        "#/waiting",
        "#/dead",
        "#/schedule",
        "#/schedule?span=7d",
        "#/tasks/test.late",
        "#/plugins",
        "#/logs",
        "#/audit",
        "#/system",
    ]
    found = {}
    for route in routes:
        goto(page, route)
        if route == "#/logs":
            expect(page.get_by_role("log")).to_contain_text("host.started")
        if route == "#/plugins":
            page.locator("summary").first.click()
        found[route] = faults_of(page, appearance)
        found[route] += too_wide(page)
    goto(page, "#/tasks")
    page.get_by_role("button", name="Run test.echo now").click()
    found["dialog"] = faults_of(page, appearance)
    assert {route: texts for route, texts in found.items() if texts} == {}


def test_the_login_page(host, open_page):
    for options in APPEARANCES.values():
        page = open_page(host.address().split("#")[0], **options)
        expect(page.get_by_role("heading", name="Log in")).to_be_visible()
        assert faults_of(page) == []


def test_each_width(page):
    found = {}
    for route in ("#/", "#/tasks", "#/tasks/test.fail", "#/tasks/test.blocked", "#/runs", "#/waiting", "#/dead", "#/schedule?span=7d", "#/plugins", "#/system"):
        goto(page, route)
        for width in (320, 600, 768, 1024, 1280, 1920):
            page.set_viewport_size({"width": width, "height": 900})
            found[f"{route} at {width}"] = too_wide(page)
    assert {route: texts for route, texts in found.items() if texts} == {}


def test_why_shows_the_gates(page):
    goto(page, "#/tasks/test.blocked")
    row = page.get_by_role("table", name="Unmet conditions").get_by_role("row", name="requires vpn")
    expect(row).to_contain_text("exit 1")
    expect(row).to_contain_text("make the probe vpn exit 0")
    page.get_by_text("conditions met").click()
    expect(page.get_by_role("table", name="Met conditions", exact=True)).to_contain_text("in the manifest")


def test_a_run_shows_its_crash_and_its_times(host, page):
    run = host.last_run("test.crash")
    goto(page, f"#/runs/{run['id']}")
    expect(page.locator("main")).to_contain_text("crashed: SIGSEGV")
    expect(page.get_by_role("group", name="Output")).to_contain_text("assertion failed: index < count")
    expect(page.get_by_role("region", name="Crash report")).to_contain_text("0x10")
    for step in ("Submitted", "Started", "Ended"):
        expect(page.get_by_role("region", name="Timeline")).to_contain_text(step)


def test_a_number_beyond_two_to_the_53_is_exact(host, page):
    runs = host.json("runs", "test.echo", "--limit", "1000")["runs"]
    run = next(run for run in runs if run["message"] == "five readings")
    goto(page, f"#/runs/{run['id']}")
    expect(page.get_by_role("group", name="Result")).to_contain_text("12345678901234567890")


def test_times_in_the_zone_of_the_viewer_and_in_utc(host, open_page):
    page = open_page(host.address(), timezone_id="Asia/Tokyo")
    goto(page, "#/system")
    started = page.get_by_role("region", name="Daemon").locator("time[data-show=short]")
    zone = page.get_by_label("Times")
    expect(zone).to_have_value("Asia/Tokyo")
    expect(started).to_have_attribute("title", page.evaluate("new RegExp('GMT.09:00')"))
    local = started.inner_text()
    zone.select_option("UTC")
    expect(started).not_to_have_text(local)
    page.reload()
    expect(zone).to_have_value("UTC")
