// SPDX-License-Identifier: Apache-2.0
import { asCommand } from "./actions.js";
import { el } from "./dom.js";
import { allOf, button, choose, chosen, filters, heading, isTime, pages, runColumns, search, table, timeHint } from "./parts.js";
import { count } from "./time.js";

const PAGE = 50;
const OUTCOMES = [["", "All"], ["unsuccessful", "Not successful"], ["running", "Running"], ["succeeded", "Succeeded"], ["failed", "Failed"], ["cancelledClean", "Cancelled"], ["killed", "Killed"], ["crashed", "Crashed"], ["lost", "Lost"], ["abandoned", "Abandoned"]];
const SINCE = [["", "Any time"], ["1h", "1 hour"], ["24h", "24 hours"], ["7d", "7 days"], ["30d", "30 days"]];
const FILTERS = ["task", "plugin", "tag", "outcome", "since", "until", "text"];

/** The conditions of the list, as the daemon and `bghost runs` take them. */
const conditions = ({ task, plugin, tag, outcome, since, until, text }) => ({
	task,
	plugin,
	tag,
	outcome: chosen(OUTCOMES, outcome),
	since: chosen(SINCE, since),
	until: isTime(until) ? until : "",
	text,
});

function commandOf(query) {
	const { task, outcome, ...others } = conditions(query);
	const options = Object.entries(others).filter(([, value]) => value).flatMap(([key, value]) => [`--${key}`, value]);
	return asCommand("runs", task || null, ...(outcome === "unsuccessful" ? ["--failed"] : outcome ? ["--state", outcome] : []), ...options);
}

async function load(ctx, fresh) {
	const { query, local } = ctx;
	const answer = await ctx.get("/v1/runs", {
		...conditions(query),
		before: /^\d{1,18}$/.test(query.before ?? "") ? query.before : "",
		limit: PAGE,
	});
	const key = JSON.stringify(query);
	const known = new Set((local.shown ?? []).map((run) => run.id));
	const isSame = local.key === key;
	const added = isSame ? answer.runs.filter((run) => !known.has(run.id)) : [];
	// Rows do not move under the pointer of a reader further down.
	if (isSame && !fresh && added.length && scrollY > 200) {
		const byId = new Map(answer.runs.map((run) => [run.id, run]));
		local.shown = local.shown.map((run) => byId.get(run.id) ?? run);
		local.held = added.length;
	} else {
		[local.shown, local.held, local.key] = [answer.runs, 0, key];
	}
	return { next: answer.next ?? null };
}

function view(ctx, { next }) {
	const { query, status, local } = ctx;
	const known = (names, own) => allOf([...new Set(own ? [...names, own] : names)].sort());
	return [
		heading("Runs"),
		filters(
			[count(local.shown.length, "run"), query.before ? ", older" : ", newest first"],
			search(ctx, "text", "Filter by message", "text of the message"),
			choose(ctx, "task", "Task", known(status.tasks.map((task) => task.id), query.task)),
			choose(ctx, "plugin", "Plugin", known(status.plugins.map((plugin) => plugin.name), query.plugin)),
			choose(ctx, "tag", "Tag", known(status.tasks.flatMap((task) => task.tags ?? []), query.tag)),
			choose(ctx, "outcome", "Outcome", OUTCOMES),
			choose(ctx, "since", "Since", SINCE),
			search(ctx, "until", "Ended before", "until, such as 03:00"),
		),
		query.until && !isTime(query.until) && el("p", { class: "fault", role: "alert", "data-key": "until" }, timeHint),
		commandOf(query),
		local.held > 0 && el("p", { class: "held" }, button(`${count(local.held, "new run")} ↑`, () => (scrollTo(0, 0), ctx.reload()))),
		el("div", { class: "panel" }, table("Runs", runColumns(true), local.shown, (run) => run.id, FILTERS.some((key) => query[key]) ? "No run matches the filter." : "No task has run yet.")),
		pages(ctx, "before", next),
	];
}

export default { load, view };
