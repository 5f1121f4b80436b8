// SPDX-License-Identifier: Apache-2.0
import { act, backup, checkReload, reload } from "./actions.js";
import { current } from "./api.js";
import { el } from "./dom.js";
import { badge, button, facts, heading, panel, prose, quiet, table, theirs } from "./parts.js";
import { count, when } from "./time.js";

const PERIOD = 10000;
const TONES = { ok: "good", warning: "warn", critical: "bad" };

async function load(ctx, fresh) {
	const { local } = ctx;
	if (!local.health || fresh || Date.now() - local.at > PERIOD) [local.health, local.at] = [await ctx.get("/v1/health"), Date.now()];
	return local.health;
}

const names = (title, list) => list.length > 0 && [title, el("span", null, list.map((name, index) => [index > 0 && ", ", theirs(name)]))];

function report({ tasks, plugins, host, parked, unparked, changes, dryRun }) {
	const rows = [
		names("Tasks added", tasks.added),
		names("Tasks changed", tasks.changed),
		names("Tasks removed", tasks.removed),
		names("Plugins added", plugins.added),
		names("Plugins changed", plugins.changed),
		names("Plugins removed", plugins.removed),
		names("Host settings changed", host),
		parked > 0 && ["Held", `${count(parked, "request")} of removed tasks`],
		unparked > 0 && ["Waiting again", count(unparked, "request")],
	].filter(Boolean);
	return panel(
		dryRun ? "What a reload would change" : "Last reload",
		{ id: "reload" },
		rows.length ? facts(rows) : el("p", { class: "empty" }, dryRun ? "A reload would change nothing." : "The manifest has not changed."),
		changes?.length > 0 &&
			table(
				"Changed keys",
				[
					["Of", (change) => [change.kind, change.name && [" ", theirs(change.name)]]],
					["Key", (change) => change.key && el("code", null, theirs(change.key)), "fit"],
					["Before", (change) => (change.before == null ? quiet("not given") : el("code", null, theirs(change.before)))],
					["After", (change) => (change.after == null ? quiet(change.key ? "not given" : "") : el("code", null, theirs(change.after)))],
					changes.some((change) => change.reason) && ["Why", (change) => prose(change.reason ?? "")],
				],
				changes,
				(change) => `${change.kind} ${change.name} ${change.key ?? change.reason}`,
				"",
			),
	);
}

function view(ctx, health) {
	const { status, local } = ctx;
	const { daemon, store, transferJournal: journal, transfers } = status;
	const session = current();
	return [
		heading(
			"System",
			null,
			act("Check the manifest", () => checkReload(daemon.manifest, (answer) => ((local.report = answer), ctx.render()))),
			act("Reload the manifest", () => reload(daemon.manifest, (answer) => ((local.report = answer), ctx.render()))),
			act("Back up the state", backup),
		),
		local.report && report(local.report),
		panel(
			"Health",
			{ id: "health", actions: [badge(TONES[health.state], health.state), button("Check again", ctx.reload, "small")] },
			table(
				"Health checks",
				[
					["", (check) => badge(TONES[check.state], check.state), "fit"],
					["Check", (check) => el("strong", null, check.name), "fit"],
					["Finding", (check) => prose(check.message), "wide"],
					["Since", (check) => when(check.since), "fit num"],
					["Remedy", (check) => prose(check.remedy)],
				],
				health.checks,
				(check) => `${check.name} ${check.message}`,
				"There are no checks.",
			),
		),
		el(
			"div",
			{ class: "columns" },
			panel(
				"Daemon",
				{ id: "daemon" },
				facts([
					["Version", daemon.version],
					["Host", theirs(session.host ?? "")],
					["Process", daemon.pid],
					["Started", [when(daemon.startedAt), ", ", when(daemon.startedAt, "short")]],
					["Manifest", el("code", null, theirs(daemon.manifest))],
					["Slots", `${daemon.slotsInUse ?? "?"} of ${daemon.slots} in use`],
					["Mode", daemon.dev ? "development: accepts files that other users could change" : null],
					["Transfers", transfers && `${transfers.underWay} in progress, ${transfers.ended} ended`],
					["Store", store && (store.failingSince ? [badge("bad", "failing"), " since ", when(store.failingSince), ": ", theirs(store.problem ?? "")] : store.waiting ? `${count(store.waiting, "transaction")} not stored yet` : "all transactions are stored")],
					["Journal of transfers", journal && (journal.failingSince ? [badge("bad", "failing"), " since ", when(journal.failingSince), ": ", theirs(journal.problem ?? "")] : journal.waiting ? `the state of ${count(journal.waiting, "transfer")} not stored yet` : "all transfers are stored")],
				]),
			),
			panel(
				"Session",
				{ id: "session" },
				facts([
					["Role", session.role === "operate" ? "operate: may look and act" : "read: may only look"],
					["Ends", [when(session.expiresAt), ", ", when(session.expiresAt, "short"), ", at the latest"]],
				]),
			),
		),
	];
}

export default { load, view };
