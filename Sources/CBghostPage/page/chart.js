// SPDX-License-Identifier: Apache-2.0
// Charts of runs.
import { el, svg } from "./dom.js";
import { duration, number, now, short } from "./time.js";
import { isFailure, outcomeText, toneOf } from "./parts.js";

const MINUTE = 60000;

/** Ended runs per minute of the last hour; `reach` is the time from which `runs` is complete. */
export function perMinute(runs, reach) {
	const end = Math.ceil(now() / MINUTE) * MINUTE;
	const minutes = Array.from({ length: 60 }, () => ({ good: 0, bad: 0 }));
	for (const run of runs) {
		if (!run.endedAt) continue;
		const index = 59 - Math.floor((end - Date.parse(run.endedAt)) / MINUTE);
		if (index >= 0 && index < 60) minutes[index][isFailure(run) ? "bad" : "good"] += 1;
	}
	const most = Math.max(...minutes.map(({ good, bad }) => good + bad));
	const top = Math.max(4, most);
	const sum = (kind) => minutes.reduce((total, minute) => total + minute[kind], 0);
	const from = reach === null ? 0 : Math.min(60, Math.max(0, 60 - Math.floor((end - reach) / MINUTE)));
	const label = `Runs that ended in the last hour: ${number(sum("good"))} without failure, ${number(sum("bad"))} failed`;
	return {
		good: sum("good"),
		bad: sum("bad"),
		figure: el(
			"figure",
			{ class: "chart" },
			svg(
				"svg",
				{ viewBox: "0 0 600 64", preserveAspectRatio: "none", role: "img", "aria-label": label },
				from > 0 && svg("rect", { class: "unknown", x: "0", y: "0", width: String(from * 10), height: "64" }),
				svg("line", { class: "axis", x1: "0", x2: "600", y1: "63.5", y2: "63.5" }),
				minutes.map(({ good, bad }, index) => {
					if (good + bad === 0) return null;
					const height = (count) => (count / top) * 60;
					const time = short(end - (60 - index) * MINUTE, false);
					return svg(
						"g",
						null,
						svg("title", null, `${time}: ${good} without failure, ${bad} failed`),
						good > 0 && svg("rect", { class: "good", x: String(index * 10 + 1), y: String(63 - height(good)), width: "8", height: String(height(good)) }),
						bad > 0 && svg("rect", { class: "bad", x: String(index * 10 + 1), y: String(63 - height(good + bad)), width: "8", height: String(height(bad)) }),
					);
				}),
			),
			el("figcaption", null, el("span", null, from > 0 ? `newest ${number(runs.length)} runs` : "60 min ago"), el("span", null, `at most ${most} a minute`), el("span", null, "now")),
		),
	};
}

/** The last runs of a task, oldest first: the height is the duration, and the line the limit. */
export function durations(runs) {
	const shown = runs.slice(0, 40).reverse();
	if (!shown.length) return null;
	const limit = Math.max(...shown.map((run) => run.limitSeconds));
	const longest = Math.max(...shown.map((run) => run.durationSeconds ?? 0));
	// Short runs under a long limit would all be flat.
	const top = longest * 4 > limit ? Math.max(limit, longest) * 1.05 : Math.max(longest * 1.2, 0.001);
	const width = 600 / 40;
	const failures = shown.filter(isFailure).length;
	return el(
		"figure",
		{ class: "chart" },
		svg(
			"svg",
			{ viewBox: "0 0 600 64", preserveAspectRatio: "none", role: "img", "aria-label": `Durations of the last ${shown.length} runs: ${failures} failed, the longest took ${duration(longest)}, the limit is ${duration(limit)}` },
			svg("line", { class: "axis", x1: "0", x2: "600", y1: "63.5", y2: "63.5" }),
			top >= limit && svg("line", { class: "limit", x1: "0", x2: "600", y1: String(63 - (limit / top) * 62), y2: String(63 - (limit / top) * 62) }),
			shown.map((run, index) => {
				const height = Math.max(3, ((run.durationSeconds ?? 0) / top) * 62);
				return svg(
					"rect",
					{ class: toneOf(run), x: String((40 - shown.length + index) * width + 1.5), y: String(63 - height), width: String(width - 3), height: String(height) },
					svg("title", null, `${run.outcome ? outcomeText(run.outcome) : run.state}, ${duration(run.durationSeconds) || "in progress"}`),
				);
			}),
		),
		el("figcaption", null, el("span", null, `last ${shown.length} runs, oldest first`), el("span", null, `longest ${duration(longest)}`), el("span", null, `limit ${duration(limit)}`)),
	);
}
