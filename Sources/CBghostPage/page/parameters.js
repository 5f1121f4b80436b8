// SPDX-License-Identifier: Apache-2.0
// The parameters of a task that a form asks for one by one, from the JSON Schemas of the task.

/** More would hide the rest of the form; the others are given as JSON. */
const FIELDS = 12;

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const brief = (text) => (typeof text === "string" && text.length > 200 ? `${text.slice(0, 200)}…` : text);

/** The type of a value that fits into one line; `null` for others. */
function lineType(rule) {
	if (Array.isArray(rule.enum)) return rule.enum.every((value) => value === null || typeof value === "string") && rule.enum.length <= 50 ? "choice" : null;
	const types = (Array.isArray(rule.type) ? rule.type : [rule.type]).filter((type) => type !== "null");
	return types.length === 1 && ["string", "integer", "number", "boolean"].includes(types[0]) ? types[0] : null;
}

function hint(rule, isRequired) {
	const range = [rule.minimum != null && `at least ${rule.minimum}`, rule.maximum != null && `at most ${rule.maximum}`].filter(Boolean);
	return [isRequired && "required", brief(rule.title), brief(rule.description), ...range].filter((part) => typeof part === "string" && part).join("; ");
}

/** Fields for the simple properties of schemas. `given` are the parameters so far. */
export function parameterFields(schemas, given) {
	const fields = new Map();
	for (const schema of schemas.filter(isObject)) {
		const required = Array.isArray(schema.required) ? schema.required : [];
		for (const [key, rule] of Object.entries(isObject(schema.properties) ? schema.properties : {})) {
			const type = isObject(rule) ? lineType(rule) : null;
			if (!type || key === "__proto__" || fields.has(key) || fields.size === FIELDS) continue;
			const value = given[key];
			const options = type === "choice" ? rule.enum.filter((option) => option !== null) : type === "boolean" ? ["true", "false"] : null;
			fields.set(key, {
				name: `parameter-${fields.size}`,
				label: key,
				type: options ? "choice" : "text",
				options: options && ["", ...options],
				value: value == null ? "" : typeof value === "string" ? value : JSON.stringify(value),
				hint: hint(rule, required.includes(key)),
				parameter: key,
				read: type,
			});
		}
	}
	return [...fields.values()];
}

/** The value of a field; `undefined` if it is empty. The daemon refuses what is no number. */
export function parameterValue(field, text) {
	if (text === "") return undefined;
	if (field.read === "boolean") return text === "true";
	if (field.read !== "integer" && field.read !== "number") return text;
	const number = Number(text);
	return text.trim() !== "" && Number.isFinite(number) && (Number.isSafeInteger(number) || !Number.isInteger(number)) ? number : text;
}

/** The parameter that a fault of the daemon is about, and what is wrong. */
export function parameterFault(line) {
	const found = /^parameters \/([^/:]*)[^:]*: (.*)$/s.exec(line);
	return found ? { parameter: found[1].replaceAll("~1", "/").replaceAll("~0", "~"), message: line.slice("parameters ".length) } : null;
}
