# SPDX-License-Identifier: Apache-2.0
"""What an operator looks for when something is wrong: definitions, workers, alerts, notifications, transfers."""

import hashlib
import json
import re

from conftest import expect, goto


def test_the_definition_of_a_task(host, page):
    lines = host.config.read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if '"test.late": {' in text)
    goto(page, "#/tasks/test.late")
    definition = page.get_by_role("region", name="Definition")
    definition.get_by_text("In the manifest").click()
    expect(definition).to_contain_text(f"tasks.json:{line}")
    for key, value in (("calendar", "30 2 1 1 *"), ("timeZone", "Europe/Berlin"), ("handler", "echo"), ("tags", '["night"]')):
        row = definition.locator("div", has=page.locator("dt").get_by_text(key, exact=True)).last
        expect(row.locator("dd")).to_have_text(value)
    # A member has that of its family.
    host.submit("test.family.one")
    goto(page, "#/tasks/test.family.one")
    definition.get_by_text("In the manifest").click()
    expect(definition.locator("dl").last).to_contain_text("echo")


def test_the_memory_and_the_digest_of_a_plugin(host, page):
    goto(page, "#/plugins?text=calm")
    digest = hashlib.sha256((host.folder / "libhandlers.so").read_bytes()).hexdigest()
    plugin = page.get_by_role("region", name="calm")
    # The worker of test.long, which runs all the time.
    expect(plugin).to_contain_text(digest)
    expect(plugin).to_contain_text(re.compile(r"Workers\d[\d, ]*: [1-9][\d.]* [KM]iB"))
    # No worker could load this one.
    goto(page, "#/plugins?text=broken")
    expect(page.get_by_role("region", name="broken")).not_to_contain_text("SHA-256")


def test_how_long_the_oldest_request_waits(page):
    goto(page, "#/")
    # That of test.blocked, whose start nothing can predict.
    expect(page.get_by_role("link", name="Waiting").filter(has_text="known start")).to_contain_text(re.compile(r"the oldest other for \d+ (s|min|h)"))


def test_alerts_and_notifications(own, open_page):
    page = open_page(own.address())
    goto(page, "#/system")
    alerts = page.get_by_role("region", name="Alerts")
    expect(alerts).to_contain_text("No receiver of alerts is in the manifest.")
    expect(page.get_by_role("region", name="Notifications")).to_have_count(0)

    value = json.loads(own.config.read_text())
    value["host"]["alerts"] = {"to": [{"command": ["/bin/true"], "to": "ops@example.org"}], "digest": "100ms"}
    value["tasks"]["test.fail"]["expect"] = {"failures": 1}
    value["tasks"]["test.notify.*"] = value["tasks"]["test.unmet"]
    value["notifications"] = {"task": "test.notify.*"}
    own.write(value)
    # Another task that delivers needs a restart.
    page.close()
    own.kill()
    own.start()
    page = open_page(own.address())
    goto(page, "#/system")
    alerts = page.get_by_role("region", name="Alerts")
    own.trigger("test.fail", code=1)
    own.run("notify", "test")
    fires = alerts.get_by_role("row", name="failures test.fail")
    expect(fires).to_contain_text("connection refused by mail.example.org:25")
    expect(alerts.locator("dl")).to_contain_text("last message")
    waits = page.get_by_role("region", name="Notifications").get_by_role("row", name="A test of bghost")
    expect(waits).to_contain_text(re.compile("waiting|delivering"))

    value["tasks"]["test.fail"]["handler"] = "echo"
    own.write(value)
    own.run("reload")
    own.trigger("test.fail")
    expect(fires).to_have_count(0)


def test_transfers(page):
    def change(route):
        answer = route.fetch()
        status = answer.json()
        status["transfers"] = {"underWay": 150, "ended": 1}
        route.fulfill(response=answer, json=status)

    def transfer(number, state, **more):
        return {"id": f"{number:026}", "plugin": "calm", "session": "photos", "state": state, "label": f"photo {number}", "url": "https://example.org/", "upload": True, "bytes": 1 << 20, "total": 4 << 20, "createdAt": "2026-11-21T09:51:00.000Z", "endedAt": None, "failures": 0, "fault": "", "waitingFor": "", "awaited": False, "file": "", "status": 0, **more}

    moves = [transfer(1, "active"), transfer(2, "waiting", waitingFor="network", upload=False, total=None), transfer(3, "failed", fault="answered 403", label="")]
    page.route("**/v1/status", change)
    moves += [transfer(number, "waiting") for number in range(4, 101)]
    page.route(re.compile("/v1/transfers.limit=100$"), lambda route: route.fulfill(json={"schema": "bghost.transfers/1", "transfers": moves, "total": 151, "next": "x"}))
    goto(page, "#/system")
    region = page.get_by_role("region", name="Transfers")
    rows = region.locator("tbody").get_by_role("row")
    expect(rows).to_have_count(100)
    expect(region).to_contain_text("100 of 151")
    for row, texts in zip(rows.all()[:3], (["active", "calm", "photo 1", "sent 1.0 MiB of 4.0 MiB"], ["waiting", "photo 2", "1.0 MiB", "network"], ["failed", "https://example.org/", "answered 403"])):
        for text in texts:
            expect(row).to_contain_text(text)
