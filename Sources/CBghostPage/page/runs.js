// SPDX-License-Identifier: Apache-2.0
import { el } from "./dom.js";
import { allOf, choose, filters, heading, runColumns, table } from "./parts.js";
import { count, now } from "./time.js";

const STEP = 50;
const MOST = 1000;
const SINCE = { __proto__: null, "1h": 3600, "24h": 86400, "7d": 604800 };

const limitOf = (query) => Math.min(MOST, Math.max(STEP, Number.parseInt(query.limit || "0", 10) || STEP));

async function load(ctx, fresh) {
	const { query, local } = ctx;
	// A daemon that answers with `next` knows the cursor and its filters; another refuses their keys.
	const extended = local.extended
		? { before: query.before, failed: query.failed, since: query.since && SINCE[query.since] ? new Date(now() - SINCE[query.since] * 1000).toISOString() : "" }
		: {};
	const answer = await ctx.get("/v1/runs", { task: query.task, limit: limitOf(query), ...extended });
	if ("next" in answer && !local.extended) {
		local.extended = true;
		if (query.before || query.failed || query.since) return load(ctx, fresh);
	}
	const key = JSON.stringify(query);
	const known = new Set((local.shown ?? []).map((run) => run.id));
	const isSame = local.key === key;
	const added = isSame ? answer.runs.filter((run) => !known.has(run.id)) : [];
	// Rows do not move under the pointer of somebody who reads further down.
	if (isSame && !fresh && added.length && scrollY > 200) {
		const byId = new Map(answer.runs.map((run) => [run.id, run]));
		local.shown = local.shown.map((run) => byId.get(run.id) ?? run);
		local.held = added.length;
	} else {
		[local.shown, local.held, local.key] = [answer.runs, 0, key];
	}
	return { next: answer.next ?? null, total: answer.runs.length };
}

function view(ctx, { next, total }) {
	const { query, status, local } = ctx;
	const names = [...new Set([...status.tasks.map((task) => task.id), ...(query.task ? [query.task] : [])])];
	const limit = limitOf(query);
	return [
		heading("Runs"),
		filters(
			[count(local.shown.length, "run"), query.before ? ", older" : ", newest first"],
			choose(ctx, "task", "Task", allOf(names.sort())),
			local.extended && choose(ctx, "failed", "Outcome", [["", "All"], ["true", "Failed"]]),
			local.extended && choose(ctx, "since", "Since", [["", "Any time"], ["1h", "1 hour"], ["24h", "24 hours"], ["7d", "7 days"]]),
		),
		local.held > 0 && el("p", { class: "held" }, el("button", { type: "button", on: { click: () => (scrollTo(0, 0), ctx.reload()) } }, `${count(local.held, "new run")} ↑`)),
		el("div", { class: "panel" }, table("Runs", runColumns(true), local.shown, (run) => run.id, query.task || query.failed || query.since ? "No run matches the filter." : "No task has run yet.")),
		el(
			"nav",
			{ class: "pages", "aria-label": "Parts of the list" },
			query.before && el("button", { type: "button", on: { click: () => ctx.setQuery({ before: "" }) } }, "Newest"),
			local.extended
				? next && el("button", { type: "button", on: { click: () => ctx.setQuery({ before: String(next) }) } }, "Older")
				: total >= limit && limit < MOST && el("button", { type: "button", on: { click: () => ctx.setQuery({ limit: String(Math.min(MOST, limit < 200 ? 200 : MOST)) }) } }, "Show more"),
		),
	];
}

export default { load, view };
