# SPDX-License-Identifier: Apache-2.0
"""Each action names the command line that does the same."""

import shlex
import subprocess

import pytest
from conftest import BIN, expect

RUN = {"id": "01KC3WZZZZZZZZZZZZZZZZZZZZ", "task": "test.hold", "graceSeconds": 50}
REQUEST = "01KC3WYYYYYYYYYYYYYYYYYYYY"

#: What `actions.js` exports besides actions.
OTHERS = {"act", "asCommand", "dismiss", "onChange", "word"}
#: Each action: what it is called with, and the command.
ACTIONS = {
    "runNow": [
        (["test.echo"], "bghost trigger test.echo"),
        (["test.echo", {"a": 1}], """bghost trigger test.echo --parameters '{"a":1}'"""),
    ],
    "pauseTask": [(["test.echo"], "bghost pause test.echo")],
    "resumeTask": [
        ([{"scope": "tasks", "name": "test.echo"}], "bghost resume test.echo"),
        ([{"scope": "plugin", "name": "calm"}], "bghost resume --plugin calm"),
        ([{"scope": "all", "name": ""}], "bghost resume --all"),
    ],
    "stopRun": [([RUN], f"bghost stop {RUN['id']}")],
    "expireRun": [([RUN], f"bghost expire {RUN['id']}")],
    "withdraw": [
        ([{"task": "test.echo"}, 3], "bghost cancel test.echo --expect 3"),
        ([{"tag": "night"}, 2], "bghost cancel --tag night --expect 2"),
        ([{}, 7], "bghost cancel --all --expect 7"),
    ],
    "clearThrottle": [(["test.echo", 2], "bghost throttle clear test.echo")],
    "redrive": [
        ([{"task": "test.mail"}, 4], "bghost redrive --task test.mail --expect 4"),
        ([{"request": REQUEST, "task": "test.mail"}], f"bghost redrive {REQUEST}"),
    ],
    "discard": [
        ([{"task": "test.mail"}, 4], "bghost discard --task test.mail --expect 4"),
        ([{"request": REQUEST, "task": "test.mail"}], f"bghost discard {REQUEST}"),
    ],
    "disable": [(["calm"], "bghost disable calm")],
    "enable": [(["calm"], "bghost enable calm")],
    "checkReload": [(["/etc/bghost/tasks.json"], "bghost reload --dry-run")],
    "reload": [(["/etc/bghost/tasks.json"], "bghost reload")],
    "backup": [([], "bghost backup FOLDER")],
}


def test_no_action_is_missing_here(page):
    exports = page.evaluate("async () => Object.keys(await import('/app/actions.js'))")
    assert set(exports) - OTHERS == set(ACTIONS)


@pytest.mark.parametrize("name", ACTIONS)
def test_its_command(page, name):
    for arguments, command in ACTIONS[name]:
        page.evaluate("async ([name, given]) => { (await import('/app/actions.js'))[name](...given) }", [name, arguments])
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_role("group", name="Command line")).to_have_text(command)
        # It has a title and says what it does; its first button leaves everything as it is.
        expect(dialog.get_by_role("heading")).not_to_be_empty()
        expect(dialog.locator("h2 + p")).not_to_be_empty()
        dialog.get_by_role("button", name="Cancel").click()
        expect(dialog).to_have_count(0)


@pytest.mark.parametrize("command", [command for each in ACTIONS.values() for _, command in each])
def test_the_program_knows_the_command(command, tmp_path):
    words = shlex.split(command)[1:]
    # No daemon answers there: a command that is misspelt fails before it looks for one.
    result = subprocess.run([BIN / "bghost", *words, "--control", tmp_path / "control.sock"], capture_output=True, text=True, timeout=600)
    assert "BG2101" in result.stderr, f"{command}: {result.stdout}{result.stderr}"
