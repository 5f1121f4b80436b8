# SPDX-License-Identifier: Apache-2.0
"""The page of the audit: who changed what, and nothing of what was sent."""

from conftest import MARKUP, expect, goto, manifest


def test_an_action_of_the_page_is_in_the_audit(host, page):
    host.run("disable", "broken", "--reason", "a hidden reason")
    host.run("enable", "broken")
    goto(page, "#/audit")
    rows = page.locator("#audit tbody tr")
    expect(rows.filter(has_text="disable").first).to_contain_text("broken")
    expect(rows.filter(has_text="disable").first).to_contain_text("Control socket")
    expect(rows.filter(has_text="disable").first).to_contain_text("stored")
    # The login of this page.
    expect(rows.filter(has_text="login").first).to_contain_text("Dashboard")
    assert "hidden" not in page.locator("main").inner_text()
    page.get_by_label("Way").select_option("web")
    expect(rows.filter(has_text="Control socket")).to_have_count(0)
    expect(rows.filter(has_text="login").first).to_be_visible()


def test_what_a_reload_changed_is_shown(host, page):
    value = manifest()
    value["tasks"]["test.taken"] = dict(value["tasks"]["test.echo"])
    value["host"]["facts"]["probes"]["vpn"]["run"].append(f"{MARKUP} \u202e")
    host.write(value)
    host.run("reload")
    host.write(manifest())
    host.run("reload")
    goto(page, "#/audit")
    page.get_by_label("Rows").select_option("true")
    rows = page.locator("#audit tbody tr")
    expect(rows.filter(has_text="login")).to_have_count(0)
    row = rows.filter(has_text="+ task test.taken").first
    expect(row.locator("pre")).to_be_hidden()
    row.get_by_text("2 changes", exact=True).click()
    expect(row.locator("pre")).to_contain_text("~ host: facts.probes.vpn.run:")
    expect(row.locator("pre")).to_contain_text("onerror=")
    assert page.title() != "owned"
    assert page.locator("main").locator("img, script, iframe").count() == 0
    assert "\u202e" not in page.locator("main").inner_text()


def test_a_hostile_target_is_text(host, page):
    host.run("backup", f"/nonexistent/{MARKUP} \u202e", code=73)
    goto(page, "#/audit")
    row = page.locator("#audit tbody tr").filter(has_text="onerror=").first
    expect(row).to_contain_text("failed BG4024")
    assert page.title() != "owned"
    assert page.locator("main").locator("img, script, iframe").count() == 0
    assert "\u202e" not in page.locator("main").inner_text()
