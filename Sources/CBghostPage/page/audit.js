// SPDX-License-Identifier: Apache-2.0
import { el } from "./dom.js";
import { badge, choose, filters, heading, table, theirs } from "./parts.js";
import { count, when } from "./time.js";

const PAGE = 50;
const WAYS = [["", "All"], ["unix", "Control socket"], ["web", "Dashboard"], ["link", "Links"], ["signal", "Signals"], ["files", "Files"], ["start", "Starts"]];
const SINCE = [["", "Any time"], ["1h", "1 hour"], ["24h", "24 hours"], ["7d", "7 days"]];
const TONES = { stored: "good", done: "good", failed: "bad", refused: "bad" };

/** A value of the address that is one of the choices; others may come from a link of another page. */
const chosen = (choices, value) => (choices.some(([known]) => known === value) ? value : "");

const load = (ctx) =>
	ctx.get("/v1/audit", {
		actor: chosen(WAYS, ctx.query.actor),
		since: chosen(SINCE, ctx.query.since),
		before: /^\d{1,18}$/.test(ctx.query.before ?? "") ? ctx.query.before : "",
		limit: PAGE,
	});

const who = (row) => [row.user ? theirs(row.user) : null, row.uid !== null && ` (${row.uid})`, ` ${WAYS.find(([way]) => way === row.via)?.[1] ?? row.via}`];

function view(ctx, { rows, next }) {
	const { query } = ctx;
	return [
		heading("Audit"),
		filters([count(rows.length, "row"), query.before ? ", older" : ", newest first"], choose(ctx, "actor", "Way", WAYS), choose(ctx, "since", "Since", SINCE)),
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
					["Target", (row) => row.target && theirs(row.target), "wide"],
					["Status", (row) => badge(TONES[row.status] ?? "off", row.code ? `${row.status} ${row.code}` : row.status), "fit"],
				],
				rows,
				(row) => String(row.seq),
				query.actor || query.since ? "No row matches the filter." : "Nothing was changed yet.",
			),
		),
		el(
			"nav",
			{ class: "pages", "aria-label": "Parts of the list" },
			query.before && el("button", { type: "button", on: { click: () => ctx.setQuery({ before: "" }) } }, "Newest"),
			next && el("button", { type: "button", on: { click: () => ctx.setQuery({ before: String(next) }) } }, "Older"),
		),
	];
}

export default { load, view };
