// SPDX-License-Identifier: Apache-2.0
import { act, runNow, withdraw } from "./actions.js";
import { el } from "./dom.js";
import { filters, has, heading, href, linkButton, panel, prose, quiet, search, table, taskLink } from "./parts.js";
import { count, number, when } from "./time.js";

const MOST = 1000;
const SHOWN = 100;
const HELD = "Needs attention";
const DATE = "Waiting for their start time";

const load = (ctx) => ctx.get("/v1/pending", { limit: MOST });

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

function view(ctx, { requests, total }) {
	const { query } = ctx;
	const found = requests.filter((request) => has(`${request.task} ${request.id}`, query.text));
	const groups = new Map();
	for (const request of found) {
		const reason = reasonOf(request);
		if (!groups.has(reason)) groups.set(reason, []);
		groups.get(reason).push(request);
	}
	// What needs attention first, what waits for its date last.
	const rank = ([reason]) => (reason === HELD ? 0 : reason === DATE ? 2 : 1);
	const sorted = [...groups.entries()].sort((a, b) => rank(a) - rank(b));
	return [
		heading("Waiting"),
		filters(
			found.length === total ? count(total, "request") : `${found.length} of ${count(total, "request")}`,
			search(ctx, "text", "Filter by task or request", "task or request"),
		),
		total > requests.length && el("p", { class: "quiet" }, `The first ${number(requests.length)} requests are listed.`),
		sorted.length === 0 && el("p", { class: "panel calm" }, total ? "No request matches the filter." : "No request is waiting."),
		sorted.map(([reason, members]) =>
			panel(
				reason,
				{ note: number(members.length) },
				table(
					reason,
					[
						["Task", (request) => taskLink(request.task), "task"],
						reason !== DATE && ["Waits for", (request) => prose(request.waitingFor.join("; ")), "wide"],
						["Start", startOf, "fit num"],
						["Submitted", (request) => when(request.submittedAt), "fit num less"],
						["By", (request) => (request.simulated ? "operator, manual" : request.submitter ?? ""), "fit less"],
						["Attempt", (request) => request.attempt, "fit num less"],
						["", (request) => el("span", { class: "actions" }, linkButton("Why", href("tasks", request.task), `Why ${request.task} waits`), act("Run now", () => runNow(request.task, request.parameters ?? {}), `Run ${request.task} now`), act("Withdraw", () => withdraw(request.task), `Withdraw the requests of ${request.task}`)), "fit"],
					],
					members.slice(0, SHOWN),
					(request) => request.id,
					"",
				),
				members.length > SHOWN && el("p", { class: "more quiet" }, `The first ${SHOWN} are shown; the filter finds the others.`),
			),
		),
	];
}

export default { load, view };
