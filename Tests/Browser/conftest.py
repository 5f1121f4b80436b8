# SPDX-License-Identifier: Apache-2.0
"""The tests of the dashboard: a real daemon, and Chromium."""

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("BGHOST_BIN_DIR", ROOT / ".build/debug")).resolve()
OUT = Path(os.environ.get("BGHOST_BROWSER_OUT", ROOT / ".build/browser/out"))
CHROMIUM = "chromium-headless-shell"
# A machine with every processor busy is slow; what must happen in time is no matter of these tests.
PATIENCE = 120_000
NOBODY = 65534

expect.set_options(timeout=PATIENCE)

#: Texts that would act on a page that does not treat them as text.
MARKUP = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
HOSTILE = f"{MARKUP} \u202eevil\u202c \u0007\u001b[31mred {'A' * 3000}"


def manifest():
    """Tasks that end in each way that the dashboard shows."""
    plugin = {"library": "./libhandlers.so", "limits": {"memory": "64MiB"}}
    once = {"policy": "exponential", "base": "1ms", "cap": "1ms", "max": 1}

    def task(handler, plugin="calm", kind="processing", **more):
        return {"plugin": plugin, "handler": handler, "kind": kind, **more}

    return {
        "version": 1,
        "host": {
            "slots": 8,
            "dashboard": {"listen": "127.0.0.1:0"},
            "controlGroup": "nogroup",
            "controlRole": "read",
            "facts": {"probes": {"vpn": {"run": ["/bin/false"], "interval": "1h"}}},
        },
        "plugins": {
            "calm": plugin,
            "wild": plugin,
            "broken": {"library": "./libbroken.so"},
        },
        "tasks": {
            "test.echo": task("echo"),
            "test.hold": task("hold", limits={"runtime": "1h", "grace": "50s"}),
            "test.long": task("hold", submitAtStart=True, limits={"runtime": "1h", "grace": "50s"}),
            "test.late": task("echo", calendar="30 2 1 1 *", timeZone="Europe/Berlin", tags=["night"]),
            "test.blocked": task("echo", submitAtStart=True, requires={"probes": ["vpn"]}, tags=["eu", "night"]),
            # One follower runs, and one waits.
            "test.first": task("echo", then=["test.second", "test.unmet"]),
            "test.second": task("echo"),
            "test.unmet": task("echo", requires={"probes": ["vpn"]}),
            "test.fail": task("fail", "wild", submitAtStart=True, retry=once),
            "test.mail": task("fail", "wild", retry=once),
            "test.crash": task("crash", "wild", kind="refresh", submitAtStart=True),
            "test.killed": task("ignore", kind="refresh", submitAtStart=True, limits={"runtime": "50ms", "grace": "50ms"}),
            "test.broken": task("echo", "broken", submitAtStart=True),
            "test.family.*": task("echo"),
            # The longest identifier.
            "test." + "n" * 123: task("echo", calendar="0 0 1 1 *"),
        },
    }


def free_port():
    """A port that no process uses, below those that the kernel gives to connections: it can be used again."""
    for port in range(20_000 + os.getpid() % 5_000, 32_000):
        with socket.socket() as holder:
            try:
                holder.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise RuntimeError("no port is free")


class Daemon:
    """A real daemon in a folder of its own."""

    def __init__(self, library):
        self.folder = Path(tempfile.mkdtemp(prefix="bghost-browser-"))
        # Workers are other users, and so is the one who may only read.
        self.folder.chmod(0o755)
        shutil.copy(library, self.folder / "libhandlers.so")
        self.config = self.folder / "tasks.json"
        self.control = self.folder / "control.sock"
        self.log = self.folder / "daemon.log"
        self.write(manifest())
        self.process = None
        #: The words of a program that runs the daemon.
        self.prefix = []

    def write(self, value):
        self.config.write_text(json.dumps(value, indent=2))

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*self.prefix, BIN / "bghost", "--config", self.config, "--state-dir", self.folder / "state", "--control", self.control, "--log-format", "json"],
                stdout=log,
                stderr=log,
            )
        self.run("wait", "ready", "--timeout", "300s")
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(120)
            except subprocess.TimeoutExpired:
                self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *words, code=0):
        """Runs a command of bghost, and returns what it prints."""
        result = subprocess.run([BIN / "bghost", *words, "--control", self.control], capture_output=True, text=True, timeout=600)
        assert result.returncode == code, f"bghost {' '.join(map(str, words))}: {result.stdout}{result.stderr}\n{self.tail()}"
        return result.stdout

    def submit(self, task, **keys):
        """Submits a request over the socket, which costs no process."""
        connection = http.client.HTTPConnection("localhost", timeout=600)
        connection.sock = socket.socket(socket.AF_UNIX)
        with contextlib.closing(connection):
            connection.sock.connect(str(self.control))
            connection.request("POST", "/v1/submit", json.dumps({"task": task, **keys}), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            assert answer.status == 202, f"submit {task}: {answer.read()}\n{self.tail()}"

    def json(self, *words):
        return json.loads(self.run(*words, "--json"))

    def trigger(self, task, parameters=None, code=0):
        """Runs a task to its end, and returns its run."""
        words = ["trigger", task, "--wait", "--timeout", "300s", "--json"]
        if parameters is not None:
            words += ["--parameters", json.dumps(parameters)]
        return json.loads(self.run(*words, code=code))["run"]

    def last_run(self, task):
        """The newest run of a task: tasks of the manifest, and their retries, may begin at any time."""
        return self.json("runs", task, "--limit", "1")["runs"][0]

    def address(self):
        """An address with a ticket of the role `operate`."""
        while True:
            result = subprocess.run([BIN / "bghost", "dashboard", "--control", self.control], capture_output=True, text=True, timeout=600)
            # A daemon is ready before it serves the dashboard.
            if "the dashboard is not served yet" in result.stderr:
                continue
            assert result.returncode == 0, f"{result.stdout}{result.stderr}\n{self.tail()}"
            return result.stdout.strip().splitlines()[-1]

    def read_address(self):
        """An address with a ticket of the role `read`: of another user, a member of `controlGroup`."""
        program = os.open(BIN / "bghost", os.O_RDONLY)
        # The other user may not be able to reach the program by its path.
        code = f"import os; os.setgroups([{NOBODY}]); os.setgid({NOBODY}); os.setuid({NOBODY}); os.execve({program}, ['bghost', 'dashboard', '--control', {str(self.control)!r}], {{'PATH': os.environ['PATH']}})"
        try:
            result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, pass_fds=[program], timeout=300, cwd="/")
        finally:
            os.close(program)
        assert result.returncode == 0, result.stderr
        return result.stdout.strip().splitlines()[-1]

    def tail(self):
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-30:])


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """The plugin of the tests."""
    compiler = shutil.which("clang") or "cc"
    file = tmp_path_factory.mktemp("plugin") / "libhandlers.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "SDK/Sources/CBghost/include", "-o", file, ROOT / "Tests/Browser/handlers.c"],
        check=True,
    )
    return file


@pytest.fixture(scope="session")
def host(library):
    """The daemon that most tests share: none of them ends what another needs."""
    daemon = Daemon(library)
    try:
        daemon.start()
        # Whoever waits for these waits for the starts of the daemon too.
        for task in ("test.fail", "test.crash", "test.killed"):
            daemon.trigger(task, code=1)
        daemon.trigger("test.echo", {"message": "five readings", "large": 12345678901234567890})
        yield daemon
    finally:
        daemon.close()


@pytest.fixture
def own(library):
    """A daemon of the test's own."""
    daemon = Daemon(library)
    try:
        yield daemon.start()
    finally:
        daemon.close()


@pytest.fixture(scope="session")
def chromium():
    path = shutil.which(CHROMIUM)
    if path is None:
        pytest.exit(f"{CHROMIUM} is missing; `Scripts/browser` installs it where apt can", returncode=1)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"] if os.geteuid() == 0 else [], timeout=PATIENCE)
        yield browser
        browser.close()


class Faults(list):
    """What the browser complains of; a test names what it causes itself in `allowed`."""

    def __init__(self):
        self.allowed = []

    def watch(self, page):
        page.on("console", lambda message: message.type in ("error", "warning") and self.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.append(f"exception: {error}"))

    def unexpected(self):
        return [text for text in self if not any(re.search(pattern, text) for pattern in self.allowed)]


@pytest.fixture
def faults():
    """The errors of the console, the exceptions, and the violations of the content security policy."""
    found = Faults()
    yield found
    assert found.unexpected() == []


@pytest.fixture
def open_page(chromium, faults, request):
    """Opens pages in a new context; options are those of Playwright's contexts."""
    contexts = []

    def open_page(address=None, context=None, **options):
        if context is None:
            context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **options})
            context.set_default_timeout(PATIENCE)
            contexts.append(context)
        page = context.new_page()
        faults.watch(page)
        if address:
            page.goto(address)
        return page

    yield open_page
    if getattr(request.node, "failed", False):
        OUT.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"\W+", "-", request.node.name)
        for context in contexts:
            for index, page in enumerate(context.pages):
                page.screenshot(path=OUT / f"{name}-{index}.png", full_page=True)
        for fixture in ("host", "own"):
            if fixture in request.fixturenames:
                shutil.copy(request.getfixturevalue(fixture).log, OUT / f"{name}-{fixture}.log")
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def session(host, chromium):
    """The session that tests share that are not about sessions, and the address of the page."""
    context = chromium.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(host.address())
    expect(page.get_by_role("link", name="Overview")).to_be_visible()
    value = page.evaluate("sessionStorage.getItem('bghost.session')"), page.url.split("#")[0]
    context.close()
    return value


@pytest.fixture
def page(open_page, session):
    """A page with the role `operate`, at the overview."""
    value, address = session
    page = open_page()
    page.add_init_script(f"sessionStorage.setItem('bghost.session', {json.dumps(value)})")
    page.goto(address)
    expect(page.get_by_role("link", name="Overview")).to_be_visible()
    return page


def wait_until(is_met):
    """Asks again until it is so, or fails; each question runs a command, so it keeps no processor busy."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not is_met():
        assert time.monotonic() < deadline, "it did not come about"


def goto(page, route):
    """Goes to a page of the dashboard, and waits until it shows what the daemon answered."""
    # With a ticket in its address it is still logging in; until then it would show the login.
    expect(page.locator("#top nav")).to_be_attached()
    # It changes after the address has, in a task of its own; until then it shows the page before.
    page.evaluate(
        """route => new Promise(done => {
            const before = location.hash;
            addEventListener("hashchange", () => done(), { once: true });
            location.hash = route;
            if (location.hash === before) done();
        })""",
        route,
    )
    expect(page.locator("main h1")).to_be_visible()
    expect(page.locator("main")).not_to_contain_text("Loading…")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    report = (yield).get_result()
    if report.failed:
        item.failed = True
