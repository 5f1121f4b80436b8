// SPDX-License-Identifier: Apache-2.0
// What happened to a task: at a time, the starts that did not happen, and the sums of its days.
import { el } from "./dom.js";
import { badge, isTime, kept, panel, prose, runBadge, runLink, table, theirs, timeHint } from "./parts.js";
import { duration, number, when } from "./time.js";

/** How old the shown answers may be, milliseconds: the daemon reads them from its store. */
const PERIOD = 30_000;
const DAYS = 7;

const STARTS = {
	__proto__: null,
	overlap: "skipped: overlap",
	paused: "skipped: paused",
	late: "skipped: too late",
	notPermitted: "not permitted",
	servedElsewhere: "served by another host",
	misfire: "missed",
	merged: "merged",
	delayed: "delayed",
};

/** The answers, or what the daemon refused. */
export async function load(ctx, fresh) {
	const task = ctx.id;
	const { at } = ctx.query;
	const [past, skipped, days] = await Promise.all([
		isTime(at) ? kept(ctx, PERIOD, "/v1/past", { task, at }, fresh).catch((error) => (error.code ? { fault: error } : Promise.reject(error))) : null,
		kept(ctx, PERIOD, "/v1/starts", { task, limit: 10 }, fresh),
		kept(ctx, PERIOD, "/v1/days", { task, limit: DAYS }, fresh),
	]);
	return { past, starts: skipped.starts, days: days.days };
}

function answer(past) {
	if (past.fault) return el("p", { class: "message bad" }, theirs(`${past.fault.message} (${past.fault.code})`));
	return el(
		"div",
		{ class: "message" },
		el("p", null, when(past.at, "short"), ": ", prose(past.sentence), "."),
		past.run && el("p", null, runBadge(past.run), " ", runLink(past.run.id)),
		past.what === "notKept" && past.keptSince && el("p", { class: "quiet" }, "Runs are kept since ", when(past.keptSince, "short"), "."),
	);
}

export const view = (ctx, { past, starts, days }) =>
	panel(
		"History",
		{ id: "history" },
		el(
			"form",
			{
				class: "filters inside",
				role: "search",
				on: {
					submit: (event) => {
						event.preventDefault();
						ctx.setQuery({ at: event.currentTarget.querySelector("input").value.trim() });
					},
				},
			},
			el("label", { for: "past-at" }, "What happened at"),
			el("input", { id: "past-at", type: "text", "data-key": "past-at", placeholder: "03:00 or 2026-11-21 03:00", autocomplete: "off", spellcheck: "false", maxlength: "40", value: ctx.query.at ?? "" }),
			el("button", { type: "submit" }, "Show"),
		),
		ctx.query.at && !isTime(ctx.query.at) && el("p", { class: "fault", role: "alert" }, timeHint),
		past && answer(past),
		starts.length > 0 &&
			table(
				"Starts that did not happen, or happened late",
				[
					["Due", (start) => [when(start.due, "short"), start.count > 1 && ` and ${number(start.count - 1)} more`], "fit num"],
					["What", (start) => badge("warn", STARTS[start.what] ?? start.what), "fit"],
					["Why", (start) => prose(start.sentence), "wide"],
				],
				starts,
				(start) => start.due + start.what,
				"",
			),
		table(
			"Runs by day, of UTC",
			[
				["Day", (day) => day.day, "fit num"],
				["Runs", (day) => number(day.runs), "fit num"],
				["Succeeded", (day) => number(day.succeeded), "fit num"],
				["Failed", (day) => number(day.failed + day.killed + day.crashed + day.lost + day.abandoned), "fit num"],
				["Cancelled", (day) => number(day.cancelled), "fit num"],
				["Runtime", (day) => duration(day.runtimeSeconds), "fit num"],
				["Longest", (day) => duration(day.longestSeconds), "fit num"],
				["Processor", (day) => duration(day.cpuSeconds), "num"],
			],
			days,
			(day) => day.day,
			"No day with runs yet.",
		),
	);
