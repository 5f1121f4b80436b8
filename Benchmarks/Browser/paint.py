# SPDX-License-Identifier: Apache-2.0
"""How soon pages of the dashboard show something, and the daemon's answer, in a warm Chromium.

Usage: paint.py ADDRESS COUNT PAGE...: the address has a ticket. Prints the medians in milliseconds.
"""

import os
import shutil
import statistics
import sys

from playwright.sync_api import sync_playwright

# The time is that of the page's own clock, which begins when the browser is told to go there.
WATCH = """
window.measured = new Promise(done => {
    let painted = null, filled = null;
    const check = () => painted !== null && filled !== null && done([painted, filled]);
    new PerformanceObserver(list => {
        for (const entry of list.getEntries()) if (entry.name === "first-contentful-paint") painted = entry.startTime;
        check();
    }).observe({ type: "paint", buffered: true });
    new MutationObserver(() => {
        const main = document.querySelector("main");
        if (filled === null && main?.querySelector("tbody tr, .tile") && !main.textContent.includes("Loading…")) filled = performance.now();
        check();
    }).observe(document, { childList: true, subtree: true });
});
"""


def main(address, count, pages):
    path = shutil.which("chromium-headless-shell")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        page = browser.new_page()
        page.set_default_timeout(60_000)
        page.goto(address)
        page.get_by_role("link", name="Tasks", exact=True).wait_for()
        page.add_init_script(WATCH)
        root = page.url.split("#")[0]
        for name in pages:
            painted, filled = [], []
            for _ in range(int(count)):
                # Otherwise only the fragment would change. The session stays with the tab.
                page.goto("about:blank")
                page.goto(f"{root}#/{'' if name == 'overview' else name}")
                # The page forbids to evaluate texts, as waiting for a condition does.
                times = page.evaluate("() => window.measured")
                painted.append(times[0])
                filled.append(times[1])
            print(f"{name}-paint {statistics.median(painted):.1f}\n{name}-data {statistics.median(filled):.1f}")
        browser.close()


main(sys.argv[1], sys.argv[2], sys.argv[3:])
