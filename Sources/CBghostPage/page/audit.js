// SPDX-License-Identifier: Apache-2.0
import { el } from "./dom.js";
import { badge, block, choose, chosen, filters, heading, pages, table, theirs } from "./parts.js";
import { count, when } from "./time.js";

const PAGE = 50;
const WAYS = [
	["", "All"],
	["unix", "Control socket"],
	["web", "Dashboard"],
	["link", "Links"],
	["signal", "Signals"],
	["files", "Files"],
	["start", "Starts"],
];
const KINDS = [["", "All"], ["true", "Changes"]];
const SINCE = [["", "Any time"], ["1h", "1 hour"], ["24h", "24 hours"], ["7d", "7 days"]];
const TONES = { stored: "good", done: "good", failed: "bad", refused: "bad" };

const load = (ctx) =>
	ctx.get("/v1/audit", {
		actor: chosen(WAYS, ctx.query.actor),
		since: chosen(SINCE, ctx.query.since),
		changes: chosen(KINDS, ctx.query.changes),
		before: /^\d{1,18}$/.test(ctx.query.before ?? "") ? ctx.query.before : "",
		limit: PAGE,
	});

const who = (row) => [row.user ? theirs(row.user) : null, row.uid !== null && ` (${row.uid})`, ` ${WAYS.find(([way]) => way === row.via)?.[1] ?? row.via}`];

/** What a reload or a start took up, a line for each change. */
function detail(row) {
	const lines = row.detail.split("\n");
	// A long list ends with the number of those that are not kept.
	const rest = /^… and (\d+) more$/.exec(lines.at(-1));
	const changes = rest ? lines.length - 1 + Number(rest[1]) : lines.length;
	return el("details", null, el("summary", null, count(changes, "change")), block(`Changes of row ${row.seq}`, row.detail));
}

const target = (row) => [row.target && theirs(row.target), row.detail && detail(row)];

function view(ctx, { rows, next }) {
	const { query } = ctx;
	return [
		heading("Audit"),
		filters([count(rows.length, "row"), query.before ? ", older" : ", newest first"], choose(ctx, "actor", "Way", WAYS), choose(ctx, "since", "Since", SINCE), choose(ctx, "changes", "Rows", KINDS)),
		el(
			"div",
			{ class: "panel", id: "audit" },
			table(
				"Audit",
				[
					["Row", (row) => row.seq, "fit num"],
					["Time", (row) => when(row.at), "fit num"],
					["Who", who, "fit"],
					["Verb", (row) => el("strong", null, theirs(row.verb)), "fit"],
					["Target", target, "wide"],
					["Status", (row) => badge(TONES[row.status] ?? "off", row.code ? `${row.status} ${row.code}` : row.status), "fit"],
				],
				rows,
				(row) => String(row.seq),
				query.actor || query.since || query.changes ? "No row matches the filter." : "Nothing was changed yet.",
			),
		),
		pages(ctx, "before", next),
	];
}

export default { load, view };
