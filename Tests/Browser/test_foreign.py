# SPDX-License-Identifier: Apache-2.0
"""A page of another site on this machine reads nothing and does nothing."""

import http.server
import threading

import pytest


@pytest.fixture
def foreign():
    """The address of another server on the loopback interface."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = b"<!doctype html><title>foreign</title><h1>foreign</h1>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_another_page_with_a_token_reads_and_changes_nothing(host, session, open_page, foreign, faults):
    faults.allowed.append("error: ")
    value, address = session
    page = open_page(foreign)
    answers = page.evaluate(
        """async ([address, session]) => {
            const headers = { Authorization: `Bearer ${JSON.parse(session).token}`, "Content-Type": "application/json" };
            const attempt = async (path, options) => {
                try {
                    const answer = await fetch(address + path, options);
                    return `${answer.type} ${answer.status} ${(await answer.text()).length}`;
                } catch { return "refused"; }
            };
            return [
                await attempt("v1/status", { headers }),
                await attempt("v1/tasks/test.echo/pending", { method: "DELETE", headers }),
                await attempt("v1/submit", { method: "POST", mode: "no-cors", body: '{"task":"test.late"}' }),
                await attempt("", {}),
            ];
        }""",
        [address, value],
    )
    # An answer that a page may not read is opaque: it has no status and no text.
    assert set(answers) <= {"refused", "opaque 0 0"}
    assert [entry for entry in host.json("logs", "--limit", "1000")["entries"] if "submit" in entry["event"] and entry["task"] == "test.late"] == []


def test_another_page_shows_the_dashboard_in_no_frame(session, open_page, foreign, faults):
    faults.allowed.append("error: ")
    page = open_page(foreign)
    with page.expect_event("requestfailed", lambda request: request.url == session[1]) as failed:
        page.evaluate("address => { const frame = document.createElement('iframe'); frame.src = address; document.body.append(frame); }", session[1])
    assert "BLOCKED" in failed.value.failure
