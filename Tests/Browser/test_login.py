# SPDX-License-Identifier: Apache-2.0
"""Tickets, sessions and roles."""

import os
import re

import pytest
from conftest import expect, goto

UNAUTHORIZED = "status of 401"
ACTIONS = re.compile(r"^(run |expire|stop|withdraw|redrive|discard|enable|disable|reload|back up|clear|check the|pause)", re.IGNORECASE)


def login_page(page):
    return page.get_by_role("heading", name="Log in")


def ask(page, method, path):
    """The status of a request with the session of the page."""
    return page.evaluate(
        """async ([method, path]) => {
            const { token } = JSON.parse(sessionStorage.getItem("bghost.session"));
            const answer = await fetch(path, { method, headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" } });
            return answer.status;
        }""",
        [method, path],
    )


def test_a_ticket_logs_in_and_leaves_the_address(host, open_page):
    address = host.address()
    page = open_page(address)
    expect(page.get_by_role("heading", name="Overview")).to_be_attached()
    ticket = address.split("#")[1]
    assert ticket not in page.url
    assert ticket not in page.evaluate("JSON.stringify({ ...sessionStorage, ...localStorage })")
    assert page.context.cookies() == []


def test_without_a_ticket_the_page_says_what_to_do(host, open_page):
    page = open_page()
    asked = []
    page.on("request", lambda request: "/v1/" in request.url and asked.append(request.url))
    page.goto(host.address().split("#")[0])
    expect(login_page(page)).to_be_visible()
    expect(page.get_by_text("bghost dashboard", exact=True)).to_be_visible()
    assert asked == []


def test_a_wrong_and_a_used_ticket_are_refused(host, open_page, faults):
    faults.allowed.append(UNAUTHORIZED)
    address = host.address()
    # Which of two pages uses the ticket does not depend on their times.
    expect(open_page(address).get_by_role("heading", name="Overview")).to_be_attached()
    for url in (address, address.split("#")[0] + "#" + "A" * 26):
        page = open_page(url)
        expect(login_page(page)).to_be_visible()
        expect(page.get_by_role("alert")).to_contain_text(re.compile(r"used.*\(BG\d{4}\)"))
        assert page.evaluate("sessionStorage.getItem('bghost.session')") is None
        assert url.split("#")[1] not in page.url


def test_an_address_in_a_tab_that_shows_the_login(host, open_page, faults):
    faults.allowed.append(UNAUTHORIZED)
    page = open_page(host.address().split("#")[0])
    expect(login_page(page)).to_be_visible()
    page.goto(host.address())
    expect(page.get_by_role("heading", name="Overview")).to_be_attached()


def test_a_reload_and_a_new_tab_keep_the_session(host, open_page):
    page = open_page(host.address())
    goto(page, "#/plugins")
    page.reload()
    expect(page.get_by_role("heading", name="Plugins")).to_be_visible()
    other = open_page(page.url, context=page.context)
    expect(other.get_by_role("heading", name="Plugins")).to_be_visible()


def test_logging_out_ends_the_session_in_each_tab(host, open_page, faults):
    faults.allowed.append(UNAUTHORIZED)
    page = open_page(host.address())
    expect(page.get_by_role("heading", name="Overview")).to_be_attached()
    other = open_page(page.url, context=page.context)
    expect(other.get_by_role("heading", name="Overview")).to_be_attached()
    session = page.evaluate("sessionStorage.getItem('bghost.session')")
    page.get_by_role("button", name="Log out").click()
    expect(login_page(page)).to_be_visible()
    expect(login_page(other)).to_be_visible()
    page.evaluate("session => sessionStorage.setItem('bghost.session', session)", session)
    assert ask(page, "GET", "/v1/status") == 401


@pytest.mark.skipif(os.geteuid() != 0, reason="a second user is needed, so it needs root")
def test_the_role_read_shows_no_action(host, open_page, faults):
    page = open_page(host.read_address())
    expect(page.get_by_text("read-only")).to_be_visible()
    run = host.json("runs", "--limit", "1")["runs"][0]["id"]
    for route in ("#/", "#/tasks", "#/tasks/test.blocked", "#/runs", f"#/runs/{run}", "#/waiting", "#/dead", "#/schedule", "#/plugins", "#/system"):
        goto(page, route)
        names = page.get_by_role("button").all_inner_texts()
        assert [name for name in names if ACTIONS.search(name)] == [], route
    faults.allowed.append("status of 403")
    assert ask(page, "POST", "/v1/reload") == 403
    assert ask(page, "DELETE", "/v1/pending") == 403
