// SPDX-License-Identifier: Apache-2.0
import { el } from "./dom.js";
import { allOf, choose, filters, heading, pages, runColumns, table } from "./parts.js";
import { count } from "./time.js";

const PAGE = 50;
const OUTCOMES = [["", "All"], ["unsuccessful", "Not successful"], ["running", "Running"], ["succeeded", "Succeeded"]];
const SINCE = [["", "Any time"], ["1h", "1 hour"], ["24h", "24 hours"], ["7d", "7 days"]];

/** A value of the address that is one of the choices; others may come from a link of another page. */
const chosen = (choices, value) => (choices.some(([known]) => known === value) ? value : "");

async function load(ctx, fresh) {
	const { query, local } = ctx;
	const answer = await ctx.get("/v1/runs", {
		task: query.task,
		outcome: chosen(OUTCOMES, query.outcome),
		since: chosen(SINCE, query.since),
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
	const names = [...new Set([...status.tasks.map((task) => task.id), ...(query.task ? [query.task] : [])])];
	return [
		heading("Runs"),
		filters(
			[count(local.shown.length, "run"), query.before ? ", older" : ", newest first"],
			choose(ctx, "task", "Task", allOf(names.sort())),
			choose(ctx, "outcome", "Outcome", OUTCOMES),
			choose(ctx, "since", "Since", SINCE),
		),
		local.held > 0 && el("p", { class: "held" }, el("button", { type: "button", on: { click: () => (scrollTo(0, 0), ctx.reload()) } }, `${count(local.held, "new run")} ↑`)),
		el("div", { class: "panel" }, table("Runs", runColumns(true), local.shown, (run) => run.id, query.task || query.outcome || query.since ? "No run matches the filter." : "No task has run yet.")),
		pages(ctx, "before", next),
	];
}

export default { load, view };
