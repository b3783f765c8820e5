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

    setTimeout(ask, 1000 * Number(place()?.dataset.every || 15));
})();
