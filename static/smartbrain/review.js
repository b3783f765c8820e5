"use strict";

// Comforts of the review screens: single-key shortcuts, a guard against acting twice, notices that fade. Every page
// works without this file. A shortcut acts on what the page marks for it: `data-key` names the key of a link, a button
// or a panel (details), `data-row` marks the rows of a list.
(() => {
    const UNDO_SECONDS = 10;
    const SETTLE = 350; // milliseconds after a decision in which a page takes no further one: nobody has read it yet
    const LOOK = 1500; // milliseconds on a page that count as looking at it
    let read = false; // whether that time is over; the page says so in `data-settled`
    let pending = ""; // the first key of a two-key shortcut
    let anchor = null; // the row from which Shift+x selects

    const all = (selector) => [...document.querySelectorAll(selector)].filter((node) => node.getClientRects().length);
    const one = (selector) => all(selector)[0];
    const announce = (text) => {
        const region = document.getElementById("sb-live");
        if (region) region.textContent = text;
    };

    // rows of a list
    const rows = () => all("[data-row]");
    const current = () => rows().findIndex((row) => row.contains(document.activeElement));
    const step = (by) => {
        const list = rows();
        if (!list.length) return false;
        const place = Math.min(Math.max(current() + by, 0), list.length - 1);
        list[place].querySelector("[data-main]").focus();
        return true;
    };
    const mark = (place, on) => {
        const box = rows()[place]?.querySelector("input[type=checkbox]");
        if (box) box.checked = on ?? !box.checked;
        return Boolean(box);
    };
    const count = () => announce(`${all("[data-row] input:checked").length} selected`);
    const select = (range) => {
        const place = current();
        if (place < 0) return false;
        if (range && anchor !== null) {
            for (let at = Math.min(place, anchor); at <= Math.max(place, anchor); at += 1) mark(at, true);
        } else {
            mark(place);
        }
        anchor = place;
        count();
        return true;
    };
    const selectAll = () => {
        const boxes = all("[data-row] input[type=checkbox]");
        const on = boxes.some((box) => !box.checked);
        boxes.forEach((box) => { box.checked = on; });
        document.getElementById("sb-matching")?.toggleAttribute("hidden", !on);
        count();
        return boxes.length > 0;
    };

    // what the page marks for a key
    const panel = (node) => {
        all("details[data-key][open]").forEach((other) => { if (other !== node) other.open = false; });
        node.open = true;
        const field = node.querySelector("[data-first], textarea") || node.querySelector("input:not([type=hidden]), select, button");
        field?.focus();
    };
    const press = (key) => {
        const node = one(`[data-key="${key}"]`);
        if (!node) return false;
        if (node.matches("details")) panel(node);
        else node.click();
        return true;
    };
    const go = (key) => {
        const link = document.querySelector(`#sb-keys [data-go="${key}"]`);
        if (link) location.assign(link.href);
        return Boolean(link);
    };

    const hasReasons = () => Boolean(document.querySelector("[data-reason]")); // ready ones, whether in sight or not

    // key, what it does in words (or what tells that of this page), and what happens
    const SHORTCUTS = [
        ["j", "Next", () => step(1) || press("j")],
        ["k", "Previous", () => step(-1) || press("k")],
        ["Enter", "Open the row", null],
        ["Escape", "Close the form, or back to the list", () => press("Escape")],
        ["a", "Approve; of a conflict keep A", () => press("a")],
        ["A", "Approve the selected rows (a page asks first)", () => press("A")],
        ["r", () => (hasReasons() ? "Reject, or retract: then 1–9 for a ready reason, or text" : "Reject, or retract"), () => press("r")],
        ["c", "Request changes", () => press("c")],
        ["e", "Edit and approve, or correct", () => press("e")],
        ["n", "Narrow the memory; say that it is no conflict", () => press("n")],
        ["l", "Take the copy out of its scope", () => press("l")],
        ["s", "Snooze", () => press("s")],
        ["m", "Comment; of a conflict merge both", () => press("m")],
        ["b", "Of a conflict keep B", () => press("b")],
        ["o", "Of a conflict let both hold", () => press("o")],
        ["p", "Claim or release, or promote", () => press("p")],
        ["u", "Undo the last decision", () => undo() || press("u")],
        ["x", "Select the row", () => select(false)],
        ["X", "Select up to here", () => select(true)],
        ["*", "Select every row of the page", selectAll],
        ["d", "Two columns or one, or demote", () => press("d")],
        ["t", "Text as Markdown or as source", () => press("t")],
        ["i", "Guidelines of this scope", () => press("i")],
        ["h", "History of this item", () => press("h")],
        ["/", "Search", () => { const field = one("[data-search], #searchbar"); field?.focus(); return Boolean(field); }],
        ["g q", "Go to the queue", () => go("q")],
        ["g h", "Go to who did what", () => go("h")],
        ["g o", "Go to the overview", () => go("o")],
        ["Ctrl+Enter", "Send the open form", null],
        ["?", "These keys", () => help()],
    ];

    const undo = () => {
        const form = document.querySelector("#sb-toasts .sb-undo");
        form?.requestSubmit();
        return Boolean(form);
    };
    const help = () => {
        const dialog = document.getElementById("sb-help");
        const body = dialog.querySelector("tbody");
        if (!body.children.length) {
            for (const [key, does] of SHORTCUTS) {
                const row = body.insertRow();
                const name = document.createElement("kbd");
                name.textContent = key === "Escape" ? "Esc" : key.length === 1 && key !== key.toLowerCase() ? `Shift+${key.toLowerCase()}` : key;
                row.insertCell().append(name);
                row.insertCell().append(typeof does === "function" ? does() : does);
            }
        }
        dialog.showModal();
        return true;
    };

    const typing = (node) => node.isContentEditable || node.matches("input:not([type=checkbox]):not([type=radio]), textarea, select");
    const settled = () => read || !document.querySelector("#sb-toasts .sb-undo");

    // keys inside an open panel: Esc closes it, a digit in the empty field chooses the ready reason of that number
    const inPanel = (event, open) => {
        if (event.key === "Escape") {
            open.open = false;
            open.querySelector("summary").focus();
            return true;
        }
        const ready = /^[1-9]$/.test(event.key) && open.querySelector(`[data-reason="${event.key}"]`);
        if (!ready || event.target.value) return false;
        choose(ready);
        return true;
    };
    const choose = (ready) => {
        const form = ready.closest("form");
        (form.querySelector("textarea[name=reason]") || form.querySelector("textarea")).value = ready.dataset.text;
        form.querySelector("button[type=submit]").focus();
    };

    const onKey = (event) => {
        if (event.defaultPrevented || event.isComposing || event.keyCode === 229) return;
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            const form = event.target.form || event.target.closest("form") || document.querySelector("details[data-key][open] form");
            if (form && form.method === "post" && !event.repeat) {
                event.preventDefault();
                form.requestSubmit(form.querySelector("button[type=submit]"));
            }
            return;
        }
        if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
        if (document.querySelector("dialog[open]")) return;
        const open = event.target.closest?.("details[data-key][open]");
        if (open && event.target.tagName !== "SUMMARY") {
            if (inPanel(event, open)) event.preventDefault();
            return;
        }
        if (typing(event.target)) {
            if (event.key === "Escape") event.target.blur();
            return;
        }
        if (document.getElementById("sb-keys")?.dataset.on !== "true") return;
        const name = pending ? `${pending} ${event.key}` : event.key;
        pending = "";
        const ready = /^[1-9]$/.test(name) && one(`form > .sb-reasons > [data-reason="${name}"]`);
        if (ready && !ready.closest("details")) {
            choose(ready);
            event.preventDefault();
            return;
        }
        if (event.key === "g" && name === "g") {
            pending = "g";
            setTimeout(() => { pending = ""; }, 1500);
            return;
        }
        const known = SHORTCUTS.find(([key]) => key === name);
        if (known?.[2] && settled() && known[2]()) event.preventDefault();
    };

    // one decision for one act, however often it is clicked
    const onSubmit = (event) => {
        const form = event.target;
        if (form.method !== "post" || form.matches("[data-downloads]")) return;  // a download leaves the page as it is
        if (form.dataset.sent || (form.matches("[data-decides]") && !settled())) event.preventDefault();
        else form.dataset.sent = "yes";
    };

    // what a page takes in once somebody looks at it: a part that costs the server more, and the claim on the item
    const take = () => {
        all("[data-load]").forEach(async (place) => {
            const answer = await fetch(place.dataset.load);
            const part = answer.ok && new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("loaded");
            if (part) place.replaceChildren(...part.childNodes);
            const top = document.getElementById("sb-atop"); // what stands in its way is said there too, once
            if (top && !top.children.length) top.append(...[...place.querySelectorAll("[data-atop]")].map((node) => node.cloneNode(true)));
        });
        if (document.querySelector("form[data-sent]")) return;
        all("form[data-claims]").forEach((form) => {
            const sent = new FormData(form);
            sent.set("quiet", "1");
            fetch(location.href, { method: "POST", body: sent });
        });
    };

    // A page is hidden until it is whole, and what is hidden does not take the focus: a refusal, else the field that wants it.
    const focusWhenShown = () => {
        const page = document.documentElement;
        const focus = () => {
            const problem = document.getElementById("problem");
            if (problem) problem.focus();
            else if (document.activeElement === document.body) document.querySelector("[autofocus]:not(dialog *)")?.focus();
        };
        if (!page.hasAttribute("x-cloak")) focus();
        else new MutationObserver((_, observer) => { observer.disconnect(); focus(); }).observe(page, { attributeFilter: ["x-cloak"] });
    };

    const start = () => {
        focusWhenShown();
        document.addEventListener("keydown", onKey);
        document.addEventListener("submit", onSubmit);
        document.addEventListener("click", (event) => {
            const chosen = event.target.closest("[data-reason]");
            if (chosen) choose(chosen);
            if (event.target.matches("[data-close]")) event.target.closest("dialog").close();
            if (event.target.matches("#sb-select-all")) selectAll();
        });
        const said = document.querySelector(".sb-toast-text");
        if (said) setTimeout(() => announce(said.textContent), 150);
        document.querySelectorAll("[data-needs-script]").forEach((node) => { node.hidden = false; });
        document.querySelectorAll(".sb-undo").forEach((form) => setTimeout(() => { form.hidden = true; }, UNDO_SECONDS * 1000));
        setTimeout(() => {
            read = true;
            document.documentElement.dataset.settled = "yes";
        }, SETTLE);
        setTimeout(take, LOOK);
    };
    window.addEventListener("pageshow", () => document.querySelectorAll("form[data-sent]").forEach((form) => { delete form.dataset.sent; }));
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
    else start();
})();
