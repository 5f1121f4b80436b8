# SPDX-License-Identifier: Apache-2.0
"""A daemon whose disk is full."""

import contextlib
import http.client
import json
import os
import re
import socket
import subprocess

import pytest
from conftest import Daemon, expect, goto


def may_mount():
    try:
        return subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0
    except OSError:
        return False


pytestmark = pytest.mark.skipif(not may_mount(), reason="mounting needs root")


@pytest.fixture
def small(library):
    """A daemon with a state directory of three MiB, and the way to that directory."""
    daemon = Daemon(library)
    state = daemon.folder / "state"
    state.mkdir(mode=0o700)
    holder = subprocess.Popen(
        ["unshare", "--mount", "sh", "-ec", f"mount -t tmpfs -o size=3m,mode=700 none '{state}'; echo mounted; exec sleep 3600"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout.readline() == "mounted\n"
        value = json.loads(daemon.config.read_text())
        # Its ends find no room.
        value["tasks"]["test.tick"] = {**value["tasks"]["test.echo"], "every": "1s"}
        value["host"]["audit"] = {"required": False}
        daemon.write(value)
        daemon.prefix = ["nsenter", "--mount", "--target", str(holder.pid)]
        daemon.start()
        yield daemon, f"/proc/{holder.pid}/root{state}"
    finally:
        daemon.close()
        holder.kill()
        holder.wait()


def submit(daemon, task, **keys):
    """The status of a submission."""
    connection = http.client.HTTPConnection("localhost", timeout=600)
    connection.sock = socket.socket(socket.AF_UNIX)
    with contextlib.closing(connection):
        connection.sock.connect(str(daemon.control))
        connection.request("POST", "/v1/submit", json.dumps({"task": task, **keys}), {"Content-Type": "application/json"})
        return connection.getresponse().status


def fill(daemon, state):
    """Fills the disk to its last byte, and the pages that the store has in reserve."""
    with open(f"{state}/ballast", "wb", buffering=0) as ballast:
        size = 1 << 16
        while size:
            try:
                ballast.write(bytes(size))
            except OSError:
                size //= 2
    for number in range(60):
        if submit(daemon, f"test.family.{number}", earliestBegin="2090-01-01T00:00:00Z", parameters={"note": "x" * 60_000}) != 202:
            return
    raise AssertionError("the disk is not full")


def test_a_full_disk_is_said_on_each_page(small, open_page, faults):
    # Of what is refused.
    faults.allowed.append("status of 507")
    daemon, state = small
    page = open_page(daemon.address())
    goto(page, "#/tasks")
    banner = page.get_by_text("The store is failing")
    expect(banner).to_have_count(0)
    fill(daemon, state)
    expect(banner).to_be_visible()
    expect(page.locator("#banners")).to_contain_text("full")
    for route in ("#/", "#/runs", "#/waiting"):
        goto(page, route)
        expect(banner).to_be_visible()
    goto(page, "#/system")
    expect(page.get_by_role("region", name="Daemon")).to_contain_text("failing since")

    # What cannot be stored is refused, in words.
    goto(page, "#/tasks/test.echo")
    page.get_by_role("button", name="Run now").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Parameters").fill(json.dumps({"note": "x" * 60_000}))
    dialog.get_by_role("button", name="Run now").click()
    expect(dialog.get_by_role("alert")).to_contain_text(re.compile(r"\(BG40\d\d\)"))
    dialog.get_by_role("button", name="Cancel").click()

    os.unlink(f"{state}/ballast")
    expect(banner).to_have_count(0)
    page.get_by_role("button", name="Run now").click()
    page.get_by_role("dialog").get_by_role("button", name="Run now").click()
    expect(page.locator("#notices")).to_contain_text("Requested a run of test.echo")
