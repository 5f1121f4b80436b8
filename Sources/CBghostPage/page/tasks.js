// SPDX-License-Identifier: Apache-2.0
import { act, pauseTask, resumeTask, runNow } from "./actions.js";
import { el } from "./dom.js";
import { allOf, badge, choose, filters, has, heading, href, isFailure, pluginLink, prose, quiet, runBadge, search, table, tagLinks, taskLink } from "./parts.js";
import { count, duration, when } from "./time.js";

/** How many rows are shown at once. */
const WINDOW = 100;

/** What a task does now: a failure of its last run is beside it, not in place of it. */
export function stateOf(task) {
	if (task.running.length) return badge("live", task.running.length > 1 ? `running ×${task.running.length}` : "running");
	if (task.paused) return badge("warn", "paused");
	if (task.pending?.attention) return badge("warn", "held");
	if (task.pending) return badge("wait", "waiting");
	return badge("off", "idle");
}

const STATES = [
	["", "All"],
	["running", "Running"],
	["waiting", "Waiting"],
	["held", "Held"],
	["paused", "Paused"],
	["idle", "Idle"],
	["failing", "Failing"],
	["dead", "With dead letters"],
];

const TESTS = {
	__proto__: null,
	running: (task) => task.running.length > 0,
	waiting: (task) => task.pending !== null,
	held: (task) => Boolean(task.pending?.attention),
	paused: (task) => Boolean(task.paused),
	idle: (task) => !task.running.length && !task.pending,
	failing: (task) => isFailure(task.last),
	dead: (task) => task.deadLetters > 0,
};

const startOf = (task) => task.pending?.earliestStart ?? (task.pending?.earliestBegin || "9999");
const ORDERS = {
	__proto__: null,
	name: (a, b) => (a.id < b.id ? -1 : 1),
	next: (a, b) => (startOf(a) < startOf(b) ? -1 : 1),
	last: (a, b) => ((a.last?.endedAt ?? "") < (b.last?.endedAt ?? "") ? -1 : 1),
};

function nextOf(task) {
	const { pending } = task;
	if (!pending) return quiet("–");
	if (pending.certain && pending.earliestStart) return when(pending.earliestStart);
	if (pending.earliestBegin && Date.parse(pending.earliestBegin) > Date.now()) return [when(pending.earliestBegin), quiet(" or later")];
	return quiet("not predictable");
}

function view(ctx) {
	const { status, query } = ctx;
	const test = TESTS[query.state] ?? (() => true);
	const plugins = [...new Set(status.tasks.map((task) => task.plugin))].sort();
	// A tag of the address may have left the manifest; the filter shows it all the same.
	const tags = [...new Set([...status.tasks.flatMap((task) => task.tags ?? []), ...(query.tag ? [query.tag] : [])])].sort();
	const found = status.tasks.filter((task) => has(task.id, query.text) && test(task) && (!query.plugin || task.plugin === query.plugin) && (!query.tag || task.tags?.includes(query.tag)));
	const [order, down] = [(query.sort ?? "").replace("-", ""), (query.sort ?? "").startsWith("-")];
	if (ORDERS[order]) found.sort((a, b) => (down ? -1 : 1) * ORDERS[order](a, b));
	const last = Math.max(0, Math.ceil(found.length / WINDOW) - 1);
	const page = Math.min(last, Math.max(0, Number.parseInt(query.page || "0", 10) || 0));
	const rows = found.slice(page * WINDOW, (page + 1) * WINDOW);
	const sort = { key: order, down, set: (key) => ctx.setQuery({ sort: order === key ? (down ? "" : `-${key}`) : key }) };
	return [
		heading("Tasks"),
		filters(
			found.length === status.tasks.length ? count(found.length, "task") : `${found.length} of ${count(status.tasks.length, "task")}`,
			search(ctx, "text", "Filter by identifier", "identifier"),
			choose(ctx, "state", "State", STATES),
			choose(ctx, "plugin", "Plugin", allOf(plugins)),
			tags.length > 0 && choose(ctx, "tag", "Tag", allOf(tags)),
		),
		status.tasksOmitted > 0 && el("p", { class: "quiet" }, `${count(status.tasksOmitted, "identifier")} of families used longer ago are not listed.`),
		el(
			"div",
			{ class: "panel" },
			table(
				"Tasks",
				[
					["Task", (task) => [taskLink(task.id), tagLinks(task.tags)], "task", "name"],
					["State", stateOf, "fit"],
					["Last run", (task) => (task.last ? [el("a", { class: "bare", href: href("runs", task.last.id) }, runBadge(task.last)), " ", quiet(when(task.last.endedAt))] : quiet("–")), "fit", "last"],
					["Duration", (task) => (task.last ? duration(task.last.durationSeconds) : ""), "fit num less"],
					["Next start", nextOf, "fit num", "next"],
					["Waits for", (task) => (task.running.length || !task.pending ? "" : quiet(prose(task.pending.waitingFor.join("; ")))), "wide"],
					["Plugin", (task) => pluginLink(task.plugin), "less"],
					["Dead", (task) => (task.deadLetters ? el("a", { href: href("dead", null, { task: task.id }) }, String(task.deadLetters)) : ""), "fit num less"],
					["", (task) => act("Run now", () => runNow(task.id), `Run ${task.id} now`), "fit"],
					["", (task) => (task.paused ? act("Resume", () => resumeTask(task.paused), `Resume ${task.id}`) : act("Pause", () => pauseTask(task.id), `Pause ${task.id}`)), "fit less"],
				],
				rows,
				(task) => task.id,
				status.tasks.length ? "No task matches the filter." : "The manifest has no tasks.",
				sort,
			),
		),
		last > 0 &&
			el(
				"nav",
				{ class: "pages", "aria-label": "Parts of the list" },
				el("button", { type: "button", disabled: page === 0, on: { click: () => ctx.setQuery({ page: page > 1 ? String(page - 1) : "" }) } }, "Previous"),
				el("span", null, `${page * WINDOW + 1} to ${page * WINDOW + rows.length} of ${found.length}`),
				el("button", { type: "button", disabled: page === last, on: { click: () => ctx.setQuery({ page: String(page + 1) }) } }, "Next"),
			),
	];
}

export default { view };
