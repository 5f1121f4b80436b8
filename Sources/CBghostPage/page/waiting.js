// SPDX-License-Identifier: Apache-2.0
import { act, runNow, withdraw } from "./actions.js";
import { el } from "./dom.js";
import { allOf, choose, filters, has, heading, href, linkButton, pages, panel, part, prose, quiet, search, table, taskLink } from "./parts.js";
import { count, number, when } from "./time.js";

const PAGE = 100;
/** How many parts of the list are searched at once. */
const PARTS = 10;
const HELD = "Needs attention";
const DATE = "Waiting for their start time";

const SUBMITTERS = [["", "All"], ["operator", "Operator"], ["manifest", "Manifest"], ["run", "Run"], ["plugin", "Plugin"]];

/** One page; with a text, the parts of the list until a page is full. */
async function load(ctx) {
	const { task, plugin, tag, text, cursor } = ctx.query;
	const query = { task, plugin, tag, submitter: SUBMITTERS.some(([word]) => word === ctx.query.submitter) ? ctx.query.submitter : "", limit: PAGE };
	let answer = await part(ctx, "/v1/pending", query, cursor);
	const { total } = answer;
	const found = [];
	for (let parts = 1; ; parts += 1) {
		found.push(...answer.requests.filter((request) => has(`${request.task} ${request.id}`, text)));
		if (!text || !answer.next || found.length >= PAGE || parts === PARTS) break;
		answer = await part(ctx, "/v1/pending", query, answer.next, () => found.splice(0));
	}
	return { requests: found, total, next: answer.next };
}

/** The reason without what changes from second to second. */
function reasonOf(request) {
	if (request.attention) return HELD;
	const reason = (request.waitingFor[0] ?? "its turn").split(":")[0];
	return reason === "its earliest begin date" ? DATE : `Waiting for ${reason}`;
}

const startOf = (request) =>
	request.certain && request.earliestStart
		? [when(request.earliestStart), quiet(", ", when(request.earliestStart, "short"))]
		: quiet("not predictable");

function view(ctx, { requests, total, next }) {
	const { query, status } = ctx;
	const names = [...new Set([...status.tasks.filter((task) => task.pending).map((task) => task.id), ...(query.task ? [query.task] : [])])].sort();
	const known = (all, own) => allOf([...new Set(own ? [...all, own] : all)].sort());
	// The daemon withdraws all of a task, of a tag, or all: exactly what such a list shows.
	const mayWithdrawAll = total > 0 && !query.text && !query.plugin && !query.submitter && !(query.task && query.tag);
	const isPart = Boolean(next || query.cursor);
	const groups = new Map();
	for (const request of requests) {
		const reason = reasonOf(request);
		if (!groups.has(reason)) groups.set(reason, []);
		groups.get(reason).push(request);
	}
	// What needs attention first, what waits for its date last.
	const rank = ([reason]) => (reason === HELD ? 0 : reason === DATE ? 2 : 1);
	const sorted = [...groups.entries()].sort((a, b) => rank(a) - rank(b));
	return [
		heading("Waiting", null, mayWithdrawAll && act("Withdraw all", () => withdraw(query, total))),
		filters(
			[total != null && requests.length !== total && `${number(requests.length)} of `, count(total ?? requests.length, "request"), query.cursor && ", further ones"],
			choose(ctx, "task", "Task", allOf(names)),
			choose(ctx, "plugin", "Plugin", known(status.plugins.map((each) => each.name), query.plugin)),
			choose(ctx, "tag", "Tag", known(status.tasks.flatMap((task) => task.tags ?? []), query.tag)),
			choose(ctx, "submitter", "By", SUBMITTERS),
			search(ctx, "text", "Filter by task or request", "task or request"),
		),
		sorted.length === 0 && el("p", { class: "panel calm" }, next ? "No request of this part matches the filter; there are more." : total || query.plugin || query.tag || query.submitter ? "No request matches the filter." : "No request is waiting."),
		sorted.map(([reason, members]) =>
			panel(
				reason,
				{ note: isPart ? `${number(members.length)} on this page` : number(members.length) },
				table(
					reason,
					[
						["Task", (request) => taskLink(request.task), "task"],
						reason !== DATE && ["Waits for", (request) => prose(request.waitingFor.join("; ")), "wide"],
						["Start", startOf, "fit num"],
						["Submitted", (request) => when(request.submittedAt), "fit num less"],
						["By", (request) => (request.simulated ? "operator, manual" : request.submitter ?? ""), "fit less"],
						["Attempt", (request) => request.attempt, "fit num less"],
						["", (request) => el("span", { class: "actions" }, linkButton("Why", href("tasks", request.task), `Why ${request.task} waits`), act("Run now", () => runNow(request.task, request.parameters ?? {}), `Run ${request.task} now`), act("Withdraw", () => withdraw({ task: request.task }), `Withdraw the requests of ${request.task}`)), "fit"],
					],
					members,
					(request) => request.id,
					"",
				),
			),
		),
		pages(ctx, "cursor", next, ["First", "Next"]),
	];
}

export default { load, view };
