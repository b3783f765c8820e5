"use strict";

// The job board while somebody looks at it: asks now and then whether anything changed, and only then takes in the page
// anew; what is selected stays selected, and the keyboard stays where it was. Every page works without this file.
(() => {
    const announce = (text) => {
        const region = document.getElementById("sb-live");
        if (region) region.textContent = text.trim().replace(/\s+/g, " ");
    };

    const place = () => document.querySelector("[data-live]");
    const marked = (node) => node && (node.value ? `button[value="${node.value}"], input[value="${node.value}"]` : node.getAttribute("href") && `a[href="${node.getAttribute("href")}"]`);

    const renew = async () => {
        const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
        if (!answer.ok) return;
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-live]");
        const old = place();
        if (!fresh || !old || old.querySelector("form[data-sent]")) return;
        const picked = [...old.querySelectorAll("input[name=pick]:checked")].map((box) => box.value);
        const focused = old.contains(document.activeElement) ? marked(document.activeElement) : "";
        old.replaceWith(fresh);
        fresh.querySelectorAll("input[name=pick]").forEach((box) => { box.checked = picked.includes(box.value); });
        if (focused) fresh.querySelector(focused)?.focus();
        announce(fresh.querySelector("[data-said]")?.textContent || "");
    };

    const ask = async () => {
        const live = place();
        const every = Number(live?.dataset.every || 0);
        if (!every) return;
        try {
            if (!document.hidden) {
                const answer = await fetch(live.dataset.live);
                if (answer.ok && (await answer.json()).pulse !== live.dataset.pulse) await renew();
            }
        } catch { /* the server is away for a moment: the next time tells */ }
        setTimeout(ask, 1000 * Number(place()?.dataset.every || 15));
    };

    // files: dropped or chosen, sent one by one with a bar each
    const sendFile = (form, file) => new Promise((done) => {
        const line = document.createElement("li");
        const bar = document.createElement("progress");
        const state = document.createElement("span");
        bar.max = 1;
        bar.setAttribute("aria-label", file.name);
        state.textContent = ` ${file.name}`;
        line.append(bar, state);
        form.querySelector("[data-progress]").append(line);
        const body = new FormData(form);
        body.delete("file");
        body.append("file", file, file.name);
        const request = new XMLHttpRequest();
        request.open("POST", form.action);
        request.setRequestHeader("Accept", "application/json");
        request.responseType = "json";
        request.upload.addEventListener("progress", (event) => { if (event.lengthComputable) bar.value = event.loaded / event.total; });
        request.addEventListener("loadend", () => {
            const sent = request.status === 202;
            bar.remove();
            const waits = request.response?.proposals?.length ? "someone else who may decide on it" : "a worker";
            state.textContent = sent ? `${file.name}: waits for ${waits}.` : `${file.name}: ${request.response?.detail || "the server did not answer; try again."}`;
            line.className = sent ? "" : "sb-job-error";
            done(sent);
        });
        request.send(body);
    });

    const tellFault = (form, text) => {
        const line = document.createElement("li");
        line.className = "sb-job-error";
        line.textContent = text;
        form.querySelector("[data-progress]").append(line);
    };

    let sending = Promise.resolve();
    let batches = 0;

    const sendAll = async (form, files) => {
        const button = form.querySelector("button[type=submit]");
        button.disabled = true;
        try {
            for (const file of files) await sendFile(form, file);
            form.querySelector("input[type=file]").value = "";
        } finally {
            button.disabled = false;
        }
    };

    // one batch after the other; what went wrong with one stays to be read while the next ones run
    const take = (form, files) => {
        if (!batches++) form.querySelector("[data-progress]").replaceChildren();
        sending = sending
            .then(() => sendAll(form, files))
            .catch(() => tellFault(form, "Something went wrong while the files were sent: look at the list, then send again what is missing."))
            .then(() => place() && renew())
            .catch(() => tellFault(form, "The server did not answer, so the list is not up to date: reload the page."))
            .then(() => { batches -= 1; });
    };

    // wherever on the page files are dropped they are taken: else the browser would leave the page and show the file
    const takeDrops = (form) => {
        const brings = (event) => event.dataTransfer?.types.includes("Files");
        document.addEventListener("dragover", (event) => {
            if (!brings(event)) return;
            event.preventDefault();
            form.toggleAttribute("data-over", true);
        });
        document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) form.toggleAttribute("data-over", false); });
        document.addEventListener("drop", (event) => {
            if (!brings(event)) return;
            event.preventDefault();
            form.toggleAttribute("data-over", false);
            if (event.dataTransfer.files.length) take(form, [...event.dataTransfer.files]);
        });
    };

    document.querySelectorAll("form[data-upload]").forEach((form) => {
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            event.stopPropagation();
            take(form, [...form.querySelector("input[type=file]").files]);
        });
        takeDrops(form);
    });

    setTimeout(ask, 1000 * Number(place()?.dataset.every || 15));
})();
