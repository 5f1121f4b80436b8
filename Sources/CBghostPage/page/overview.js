// SPDX-License-Identifier: Apache-2.0
import { act, disable, enable, expireRun, runNow, stopRun } from "./actions.js";
import { perMinute } from "./chart.js";
import { el } from "./dom.js";
import { badge, faultOf, heading, href, isFailure, kept, linkButton, outcomeText, panel, pluginLink, progressOf, prose, quiet, runLink, runtimeOf, table, taskLink, theirs } from "./parts.js";
import { count, number, when } from "./time.js";

/** How often the checks that may read the disk are asked for, milliseconds. */
const HEALTH_PERIOD = 20000;
/** The same for all runs of the last hour, on a daemon with many. */
const GAP_PERIOD = 10000;
const MOST = 1000;
const FEW = 50;
/** Checks whose findings the problems of the status name already. */
const KNOWN = new Set(["store", "transferJournal", "plugin", "fleet"]);
const SHOWN = 10;

async function load(ctx) {
	const { local } = ctx;
	// The first answer reaches far back, and later ones add to it, unless too much has run in between.
	const isFull = !local.runs || local.gap;
	const skips = local.gap && Date.now() - local.runsAt < GAP_PERIOD;
	const [health, answer] = await Promise.all([
		kept(ctx, HEALTH_PERIOD, "/v1/health", {}),
		skips ? null : ctx.get("/v1/runs", { limit: isFull ? MOST : FEW }),
	]);
	if (answer) {
		const { runs } = answer;
		local.runsAt = Date.now();
		const known = new Map(isFull ? [] : local.runs.map((run) => [run.id, run]));
		local.gap = isFull ? local.gap && runs.length === MOST : runs.length === FEW && !runs.some((run) => known.has(run.id));
		if (isFull) local.whole = runs.length < MOST;
		for (const run of runs) known.set(run.id, run);
		local.runs = [...known.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, 3 * MOST);
	}
	const oldest = local.runs.at(-1);
	return { health, runs: local.runs, reach: local.whole || !oldest ? null : Date.parse(oldest.submittedAt) };
}

const tone = { __proto__: null, store: "bad", transferJournal: "bad", fleet: "warn", quarantine: "bad", plugin: "bad", deadLetters: "warn" };

function attention(status, health) {
	const rows = [];
	for (const problem of status.problems) {
		if (problem.kind === "failing") continue;
		const { subject } = problem;
		const plugin = status.plugins.find((each) => each.name === subject);
		if (problem.kind === "deadLetters") {
			rows.push(["dead", "warn", count(status.deadLetters, "dead letter"), "requests that are no longer retried", [linkButton("Show", "#/dead")]]);
		} else {
			const text = problem.message.replace(`plugin ${subject} is `, "").replace(`plugin ${subject}: `, "");
			rows.push([
				`${problem.kind} ${subject}`,
				tone[problem.kind] ?? "bad",
				subject ? ["plugin ", pluginLink(subject)] : problem.kind,
				text,
				[problem.kind === "quarantine" && act("Enable", () => enable(subject), `Enable ${subject}`), problem.kind === "plugin" && plugin?.switchedOff == null && act("Disable", () => disable(subject), `Disable ${subject}`)],
			]);
		}
	}
	for (const check of health.checks) {
		if (check.state === "ok" || KNOWN.has(check.name)) continue;
		rows.push([`check ${check.name} ${check.message}`, check.state === "critical" ? "bad" : "warn", check.name, check.message + (check.remedy && `; ${check.remedy}`), [linkButton("Show", "#/system")]]);
	}
	// A task of a plugin that is named above waits for just that.
	const faulty = new Set(status.plugins.filter((plugin) => plugin.problem).map((plugin) => plugin.name));
	const held = status.tasks.filter((task) => task.pending?.attention && !faulty.has(task.plugin));
	for (const task of held.slice(0, 20)) {
		rows.push([`held ${task.id}`, "warn", taskLink(task.id), `waits: ${task.pending.waitingFor.join("; ")}`, [linkButton("Why", href("tasks", task.id), `Why ${task.id} waits`), act("Run now", () => runNow(task.id), `Run ${task.id} now`)]]);
	}
	if (held.length > 20) rows.push(["held", "warn", `${held.length - 20} more tasks`, "wait for something that needs attention", [linkButton("Show", "#/waiting")]]);
	return rows;
}

function attentionPanel(rows, failing) {
	if (!rows.length) {
		return el("p", { class: `panel calm ${failing ? "" : "good"}`, "data-key": "calm" }, failing ? "Nothing else needs attention." : [badge("good", "Nothing needs attention"), " "]);
	}
	return panel(
		"Needs attention",
		{ note: number(rows.length) },
		el(
			"ul",
			{ class: "attention" },
			rows.map(([key, kind, subject, text, actions]) =>
				el("li", { "data-key": key }, badge(kind, el("span", { class: "unseen" }, kind === "bad" ? "problem" : "warning")), el("span", { class: "subject" }, subject), el("span", { class: "text" }, prose(text)), el("span", { class: "actions" }, actions)),
			),
		),
	);
}

const tile = (key, title, link, value, note) =>
	el("a", { class: "tile", href: link, "data-key": key }, el("span", { class: "title" }, title), el("span", { class: "value" }, value), quiet(note));

/** Failing tasks with the same message are one row. */
function failures(tasks) {
	const groups = new Map();
	for (const task of tasks) {
		const key = `${task.plugin}\n${task.last.outcome}\n${faultOf(task.last)}`;
		if (!groups.has(key)) groups.set(key, []);
		groups.get(key).push(task);
	}
	return [...groups.entries()].map(([key, members]) => ({ key, members, last: members.map((task) => task.last).sort((a, b) => (a.endedAt < b.endedAt ? 1 : -1))[0] }));
}

function view(ctx, { health, runs, reach }) {
	const { status } = ctx;
	const { tasks, daemon } = status;
	const failing = tasks.filter((task) => isFailure(task.last));
	const running = tasks.flatMap((task) => task.running);
	const waiting = tasks.filter((task) => task.pending);
	const coming = waiting
		.filter((task) => task.pending.certain && task.pending.earliestStart)
		.sort((a, b) => (a.pending.earliestStart < b.pending.earliestStart ? -1 : 1));
	const chart = perMinute(runs, reach);
	const groups = failures(failing);
	const next = coming[0];
	const oldest = waiting.filter((task) => !coming.includes(task)).map((task) => task.pending.submittedAt).sort()[0];
	const inUse = daemon.slotsInUse ?? running.length;
	return [
		heading("Overview", { class: "unseen" }),
		attentionPanel(attention(status, health), failing.length),
		el(
			"div",
			{ class: "tiles" },
			tile("running", "Running", "#/tasks?state=running", number(running.length), [`${inUse} of ${daemon.slots} slots `, el("meter", { min: "0", max: String(daemon.slots), value: String(inUse), "aria-label": "slots in use" })]),
			tile("waiting", "Waiting", "#/waiting", number(ctx.pending), [number(coming.length), " with a known start", oldest && [", the oldest other for ", when(oldest, "since")]]),
			tile("failing", "Failing", "#/tasks?state=failing", number(failing.length), `of ${count(tasks.length, "task")}`),
			tile("dead", "Dead letters", "#/dead", number(status.deadLetters), "no longer retried"),
			tile("hour", "Last hour", "#/runs", [number(chart.good), " ✓  ", number(chart.bad), " ✕"], "runs that ended"),
			tile("next", "Next start", next ? href("tasks", next.id) : "#/waiting", next ? when(next.pending.earliestStart) : "–", next ? theirs(next.id) : "no start can be predicted"),
		),
		panel("Runs per minute", { id: "minutes", note: "✓ without failure, ✕ failed" }, chart.figure),
		panel(
			"Running",
			{ note: number(running.length) },
			table(
				"Runs in progress",
				[
					["Task", (run) => taskLink(run.task), "task"],
					["Run", (run) => runLink(run.id), "fit"],
					["Progress", progressOf, "wide"],
					["Runtime", runtimeOf, "fit num"],
					["", (run) => el("span", { class: "actions" }, act("Expire", () => expireRun(run), `Expire the run of ${run.task}`), act("Stop", () => stopRun(run), `Stop the run of ${run.task}`)), "fit"],
				],
				running,
				(run) => run.id,
				"No run is in progress.",
			),
		),
		el(
			"div",
			{ class: "columns" },
			panel(
				"Coming up",
				{ id: "coming", note: coming.length > SHOWN ? `next ${SHOWN} of ${number(coming.length)}` : null },
				table(
					"Coming starts",
					[
						["Start", (task) => when(task.pending.earliestStart), "fit num"],
						["At", (task) => when(task.pending.earliestStart, "short"), "fit num"],
						["Task", (task) => taskLink(task.id), "task"],
					],
					coming.slice(0, SHOWN),
					(task) => task.id,
					"No start can be predicted.",
				),
			),
			panel(
				"Failing",
				{ id: "failing", note: failing.length ? "the last run did not succeed" : null },
				table(
					"Failing tasks",
					[
						["Task", ({ members, last }) => el("div", null, taskLink(members[0].id), members.length > 1 && ` and ${members.length - 1} more`, el("div", null, badge("bad", outcomeText(last.outcome)), " ", el("a", { href: href("runs", last.id), class: "quiet" }, when(last.endedAt)))), "task"],
						["Message", ({ last }) => theirs(faultOf(last)), "wide"],
					],
					groups.slice(0, SHOWN),
					({ key }) => key,
					"The last run of each task succeeded.",
				),
				groups.length > SHOWN && el("p", { class: "more" }, el("a", { href: "#/tasks?state=failing" }, `Show all ${failing.length}`)),
			),
		),
	];
}

export default { load, view };
