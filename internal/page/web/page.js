// Says what has come or gone since the page was loaded. Nothing that a person
// decides needs it. It loads the page anew only where there is nothing on it that a
// person could be at.
"use strict";
const shown = Array.from(document.querySelectorAll("[data-id]"), (e) => e.dataset.id);
const place = document.getElementById("news");
const title = document.title;

function say(text, link) {
	if (place.textContent === text) return;
	place.replaceChildren();
	if (!link) {
		place.textContent = text;
		return;
	}
	const a = document.createElement("a");
	a.href = "./";
	a.textContent = text;
	place.append(a);
}

async function look() {
	let ids;
	try {
		const answer = await fetch("news", { cache: "no-store" });
		if (!answer.ok) throw new Error(answer.status);
		ids = await answer.json();
	} catch {
		say("This page has ended. Run vault-mcp elicit page again.", false);
		return;
	}
	const come = ids.filter((id) => !shown.includes(id)).length;
	const gone = shown.filter((id) => !ids.includes(id)).length;
	if (come > 0 && shown.length === 0) {
		location.replace("./");
		return;
	}
	const parts = [];
	if (come > 0) parts.push(come + " new");
	if (gone > 0) parts.push(gone + " answered elsewhere or over");
	say(parts.length > 0 ? parts.join(", ") + ": show" : "", true);
	document.title = come > 0 ? "● " + title : title;
}

setInterval(look, 1500);
