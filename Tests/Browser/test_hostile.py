# SPDX-License-Identifier: Apache-2.0
"""Texts of plugins and operators are shown, and do nothing."""

import json
import re

import pytest
from conftest import HOSTILE, MARKUP, expect, goto


@pytest.fixture(scope="module")
def failed(host):
    """A run whose message, output and log lines are hostile."""
    return host.trigger("test.fail", {"line": HOSTILE, MARKUP: HOSTILE}, code=1)


@pytest.fixture(scope="module")
def echoed(host):
    """A run whose message and result are hostile, and large."""
    return host.trigger("test.echo", {"message": HOSTILE, MARKUP: [HOSTILE] * 8})


def expect_inert(page, route):
    goto(page, route)
    main = page.locator("main")
    expect(main).to_contain_text("<img src=x onerror=")
    assert page.title() != "owned"
    assert main.locator("img, script, iframe").count() == 0
    shown = main.inner_text()
    assert not set(shown) & set("\u202e\u202c\u0007\u001b"), route
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"], route


@pytest.mark.parametrize("width", [1280, 360])
def test_messages_outputs_and_results(host, open_page, failed, echoed, width):
    page = open_page(host.address(), viewport={"width": width, "height": 900})
    for route in ("#/", "#/runs", "#/runs?task=test.fail", "#/tasks/test.fail", f"#/runs/{failed['id']}", f"#/runs/{echoed['id']}"):
        expect_inert(page, route)
    expect(page.get_by_role("group", name="Result")).to_contain_text("⟨U+202E⟩")


def test_lines_of_the_log(page, failed):
    goto(page, "#/logs?task=test.fail")
    expect(page.get_by_role("log")).to_contain_text("onerror=")
    expect_inert(page, "#/logs?task=test.fail")


def test_parameters_of_dead_letters(host, page):
    host.run("submit", "test.fail", "--parameters", json.dumps({"line": HOSTILE, MARKUP: HOSTILE}))
    goto(page, "#/dead?task=test.fail")
    expect(page.locator("main")).to_contain_text("onerror=")
    for summary in page.locator("summary").all():
        summary.click()
    expect_inert(page, "#/dead?task=test.fail")


def test_the_reason_of_an_operator(host, page):
    host.run("disable", "broken", "--reason", MARKUP + " \u202e")
    try:
        expect_inert(page, "#/plugins")
    finally:
        host.run("enable", "broken")


#: Keys whose values the daemon makes itself, of words, numbers or times.
OWN = {"schema", "id", "request", "run", "state", "outcome", "level", "kind", "gate", "scope", "role", "day", "what", "isolation", "mode", "next", "layer", "crash", "submitterRun", "traceparent"}


def hostile(value, key=""):
    """A copy of an answer, in which each text of others is hostile."""
    if isinstance(value, dict):
        return {name: hostile(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [hostile(each, key) for each in value]
    # A time is read by the page.
    if not isinstance(value, str) or key in OWN or key.endswith(("At", "SHA256")) or re.match(r"\d{4}-\d\d-\d\dT", value):
        return value
    return f"{value[:40]}{MARKUP} \u202e"


@pytest.mark.parametrize("route", ["#/", "#/tasks", "#/tasks/test.blocked", "#/tasks/test.long", "#/runs", "#/waiting", "#/dead", "#/plugins", "#/audit", "#/system"])
def test_each_text_of_an_answer(host, page, route):
    def answer(call):
        response = call.fetch()
        call.fulfill(response=response, body=json.dumps(hostile(response.json())))

    # A page that was asked before it is left may still wait for its answer.
    goto(page, "#/logs")
    page.route(re.compile("/v1/(?!web|logs)"), answer)
    expect_inert(page, route)
    for summary in page.locator("main summary").all():
        summary.click()
    expect_inert(page, route)
    page.unroute_all(behavior="wait")


def test_the_reason_of_a_pause(host, page):
    host.run("pause", "test.echo", "--reason", MARKUP + " \u202e")
    try:
        expect_inert(page, "#/tasks/test.echo")
    finally:
        host.run("resume", "test.echo")


def test_the_labels_of_a_form(own, open_page):
    value = json.loads(own.config.read_text())
    value["tasks"]["test.echo"]["parametersSchema"] = {
        "properties": {
            MARKUP: {"type": "string", "description": MARKUP + " \u202e", "title": MARKUP},
            "mode": {"enum": [MARKUP, "small"]},
        },
    }
    own.write(value)
    own.run("reload")
    page = open_page(own.address())
    goto(page, "#/tasks/test.echo")
    page.get_by_role("button", name="Run now").click()
    dialog = page.get_by_role("dialog", name="Run now")
    expect(dialog).to_contain_text("<img src=x onerror=")
    assert page.title() != "owned"
    assert dialog.locator("img, script, iframe").count() == 0
    assert not set(dialog.inner_text()) & set("\u202e\u202c")


def test_addresses(page, faults):
    faults.allowed += ["status of 404", "status of 400"]
    for route in (f"#/tasks/{MARKUP}", f"#/runs/{MARKUP}", f"#/runs?task={MARKUP}", "#/tasks/%", "#/logs?level=<b>&text=(", "#/tasks?page=-1&sort=constructor&state=toString", "#/__proto__/x", "#/constructor"):
        goto(page, route)
        assert page.title() != "owned"
        assert page.locator("main img, main script").count() == 0, route


def test_an_answer_of_something_else_is_no_answer(page):
    page.route("**/v1/status*", lambda route: route.fulfill(status=200, content_type="text/html", body="<h1>proxy</h1>"))
    expect(page.get_by_text("The daemon has not answered since")).to_be_visible()
    page.unroute("**/v1/status*")
    expect(page.get_by_text("The daemon has not answered since")).to_have_count(0)


def test_the_command_line_quotes_what_a_shell_would_read(page):
    goto(page, "#/plugins?text=broken")
    page.get_by_role("button", name="Disable broken").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("$(reboot) `id` 'x'")
    expect(dialog.locator("code")).to_have_text("bghost disable broken --reason '$(reboot) `id` '\\''x'\\'''")


def test_parameters_stay_what_they_are(host, page):
    goto(page, "#/tasks/test.echo")
    page.get_by_role("button", name="Run now").click()
    page.get_by_role("dialog").get_by_label("Parameters").fill(json.dumps({"message": MARKUP}))
    page.get_by_role("dialog").get_by_role("button", name="Run now").click()
    expect(page.get_by_role("table", name="Runs of the task")).to_contain_text(MARKUP)
