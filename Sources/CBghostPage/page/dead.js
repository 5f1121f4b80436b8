// SPDX-License-Identifier: Apache-2.0
import { act, discard, redrive } from "./actions.js";
import { el } from "./dom.js";
import { allOf, block, choose, filters, heading, json, pages, panel, part, prose, quiet, runLink, shortId, table, taskLink } from "./parts.js";
import { count, number, when } from "./time.js";

const PAGE = 50;

const load = (ctx) => part(ctx, "/v1/dead", { task: ctx.query.task, limit: PAGE }, ctx.query.cursor);

const causes = ({ failures, losses, interruptions }) =>
	[failures && count(failures, "failure"), losses && count(losses, "crash", "crashes"), interruptions && count(interruptions, "interruption")].filter(Boolean).join(", ");

function view(ctx, { deadLetters, next }) {
	const { query, status } = ctx;
	const names = [...new Set([...status.tasks.filter((task) => task.deadLetters > 0).map((task) => task.id), ...(query.task ? [query.task] : [])])].sort();
	const groups = new Map();
	for (const letter of deadLetters) {
		if (!groups.has(letter.task)) groups.set(letter.task, []);
		groups.get(letter.task).push(letter);
	}
	const totals = new Map(status.tasks.map((task) => [task.id, task.deadLetters]));
	return [
		heading("Dead letters"),
		el("p", { class: "lead quiet" }, "Requests that failed too often. They are kept, and not retried."),
		filters(
			[count(query.task ? totals.get(query.task) ?? deadLetters.length : status.deadLetters, "dead letter"), query.cursor ? ", older" : next && ", newest first"],
			choose(ctx, "task", "Task", allOf(names)),
		),
		deadLetters.length === 0 && el("p", { class: "panel calm" }, query.cursor ? "There is no older dead letter." : query.task ? "This task has no dead letter." : "There is no dead letter."),
		[...groups.entries()].map(([task, letters]) => {
			// The status counts no task that left the manifest, and a part of the list does not count all.
			const isWhole = !next && !query.cursor;
			const total = totals.has(task) ? Math.max(letters.length, totals.get(task)) : isWhole ? letters.length : null;
			return panel(
				taskLink(task),
				{
					id: encodeURIComponent(task),
					note: total == null ? "" : number(total),
					actions: [act("Redrive all", () => redrive({ task }, total), `Redrive all of ${task}`), act("Discard all", () => discard({ task }, total), `Discard all of ${task}`)],
				},
				table(
					`Dead letters of ${task}`,
					[
						["Request", (letter) => el("code", { title: letter.id }, shortId(letter.id)), "fit"],
						["Died", (letter) => when(letter.diedAt), "fit num"],
						["Reason", (letter) => prose(letter.reason)],
						["Counted", causes, "fit"],
						["Last run", (letter) => runLink(letter.run), "fit"],
						["Parameters", (letter) => (Object.keys(letter.parameters ?? {}).length ? el("details", null, el("summary", null, "Show"), block("Parameters", json(letter.parameters))) : quiet("none")), "wide"],
						["", (letter) => el("span", { class: "actions" }, act("Redrive", () => redrive({ request: letter.id, task }), `Redrive ${shortId(letter.id)}`), act("Discard", () => discard({ request: letter.id, task }), `Discard ${shortId(letter.id)}`)), "fit"],
					],
					letters,
					(letter) => letter.id,
					"",
				),
				total > letters.length && el("p", { class: "more quiet" }, `${number(letters.length)} on this page.`),
			);
		}),
		pages(ctx, "cursor", next),
	];
}

export default { load, view };
