"""The job board in a real browser: by mouse, by keyboard, without JavaScript, live, accessible, in both schemes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from kernel import clock
from media.models import MediaJob
from tests.browser.test_admin_browser import signed_in, violations
from tests.conftest import ELSEWHERE, TEAM, Cast, make_agent, make_cast, make_person
from tests.guards.write_guard import unguarded
from tests.media.conftest import media_folder, set_conf
from tests.media.jobbing import a_job

__all__ = ["media_folder", "set_conf"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SHOTS = os.environ.get("SCREENSHOTS", "")


def make_job(cast: Cast, source: str, status: str, **fields: Any) -> MediaJob:
    return a_job(cast.agent, status, source=source, options={"title": "计划 a\u200bb"}, **fields)


@pytest.fixture
def jobs(transactional_db: None) -> dict[str, MediaJob]:
    """A job in every state, two failed ones and one of another domain."""
    cast = make_cast()
    make_person("ann", TEAM, is_staff=True)
    done = {"status": "success", "document_id": "0198", "warnings": []}
    partial = {**done, "status": "partial", "warnings": ["No speech-to-text is configured: the sound was not read."]}
    skipped = {"status": "unsupported", "warnings": ["Nothing reads .xyz files."]}
    address = "https://example.org/" + "very-long-name-" * 12
    return {
        "queued": make_job(cast, "https://example.org/waits.pdf", "queued"),
        "processing": make_job(cast, "https://example.org/runs.mp4", "processing", heartbeat_at=clock.now()),
        "completed": make_job(cast, "https://example.org/done.md", "completed", result=done),
        "partial": make_job(cast, "https://example.org/会议.mp3", "partial", result=partial),
        "unsupported": make_job(cast, "https://example.org/model.xyz", "partial", result=skipped),
        "canceled": make_job(cast, "https://example.org/never.docx", "canceled"),
        "failed": make_job(
            cast,
            "https://example.org/<b>broken</b>.pdf",
            "failed",
            error="too_large: 80 MiB is over the limit of 50 MiB.",
        ),
        "failed_too": make_job(cast, address, "failed", error="坏 " * 300),
        "elsewhere": make_job(cast, "https://example.org/secret", "failed", domain_id=ELSEWHERE),
    }


@pytest.fixture
def pictures() -> Any:
    def take(page: Page, name: str) -> None:
        if SHOTS:
            page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)

    return take


def board(**query: str) -> str:
    return reverse("admin:media_board") + "".join(f"?{name}={value}" for name, value in query.items())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_works(browser: Browser, live_server: Any, jobs: dict, pictures: Any, scheme: str) -> None:
    barriers: list[str] = []
    pages = {
        "board": board(),
        "attention": board(state="attention"),
        "failed-job": reverse("admin:media_job", args=[jobs["failed"].pk]),
        "partial-job": reverse("admin:media_job", args=[jobs["partial"].pk]),
        "running-job": reverse("admin:media_job", args=[jobs["processing"].pk]),
    }
    with signed_in(browser, live_server.url, "ann", color_scheme=scheme) as (page, faults):
        for name, address in pages.items():
            page.goto(live_server.url + address)
            page.wait_for_function("!document.documentElement.hasAttribute('x-cloak')")
            pictures(page, f"{name}-{scheme}")
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), address
            assert "secret" not in page.content()
            barriers += violations(page)
        assert faults == []
    assert barriers == []


def test_every_state_is_a_tab_with_the_number_of_its_list(browser: Browser, live_server: Any, jobs: dict) -> None:
    with signed_in(browser, live_server.url, "ann") as (page, _):
        page.goto(live_server.url + board())
        tabs = page.locator(".sb-tabs a").evaluate_all("links => links.map(link => [link.href, link.innerText])")
        assert len(tabs) == 8
        for address, words in tabs:
            page.goto(address)
            expect(page.locator("li[data-job]"), words).to_have_count(int(words.split()[-1]))
        expect(page.locator("text=unsupported")).to_have_count(1)


@pytest.mark.parametrize("script", [True, False])
def test_failed_jobs_are_retried_one_selected_or_all(
    browser: Browser, live_server: Any, jobs: dict, script: bool
) -> None:
    with signed_in(browser, live_server.url, "ann", java_script_enabled=script) as (page, faults):
        page.goto(live_server.url + board(state="failed"))
        page.check(f"input[value='{jobs['failed'].pk}']")
        page.click("text=Retry selected")
        page.wait_for_selector("text=1 of 1 jobs wait for a worker again.")
        assert MediaJob.objects.get(pk=jobs["failed"].pk).status == "queued"
        page.goto(live_server.url + board())
        assert page.locator(f"li[data-job='{jobs['failed'].pk}'] button:text-is('Retry')").is_disabled()
        assert page.locator(f"li[data-job='{jobs['processing'].pk}'] button:text-is('Cancel')").is_disabled()
        page.click("text=Retry all 1 failed")
        page.wait_for_selector("text=1 of 1 jobs wait for a worker again.")
        assert not MediaJob.objects.filter(status="failed", domain_id=TEAM).exists()
        assert MediaJob.objects.get(pk=jobs["elsewhere"].pk).status == "failed"
        assert faults == []


def test_a_job_tells_what_it_was_given_and_is_retried_by_its_own_button(
    browser: Browser, live_server: Any, jobs: dict
) -> None:
    job = jobs["failed"]
    with signed_in(browser, live_server.url, "ann") as (page, faults):
        page.goto(live_server.url + reverse("admin:media_job", args=[job.pk]))
        for told in ("80 MiB is over the limit of 50 MiB.", "too_large", job.source, "add_media", "Attempts", "Wait"):
            assert page.get_by_text(told).first.is_visible(), told
        page.click("button:text-is('Retry')")
        page.wait_for_selector("text=queued")
        page.goto(live_server.url + reverse("admin:media_job", args=[jobs["processing"].pk]))
        assert page.locator("button:text-is('Retry')").is_disabled()
        page.goto(live_server.url + reverse("admin:media_job", args=[jobs["partial"].pk]))
        assert page.get_by_text("No speech-to-text is configured").first.is_visible()
        assert faults == []
    assert MediaJob.objects.get(pk=job.pk).status == "queued"


def test_a_long_answer_widens_no_page_and_leads_to_its_document(
    browser: Browser, live_server: Any, jobs: dict, media_folder: Path, pictures: Any
) -> None:
    """The whole text of a document stands in the result; an upload's source is a key to the bytes."""
    ben, agent = make_person("ben", TEAM, is_staff=True), make_agent("second")
    source = ben.do("upload_media", data="IyBQbGFu", name="plan.md", domain_id=TEAM)["source"]
    long = {"text": "word " * 8_000 + "x" * 3_000, "title": "The plan"}
    shop = [{"type": "project", "id": "shop"}]
    made = agent.do("add_document", domain_id=TEAM, options=long, scopes=shop)["document_id"]
    warnings = ["no_ocr:Nothing here reads text in pictures.", "format_not_read:bin"]
    result = {"document_id": made, "warnings": warnings, "status": "partial", "metadata": long}
    job = a_job(ben, "partial", source=source, options={"text": "y" * 30_000}, result=result)
    with signed_in(browser, live_server.url, "ben") as (page, faults):
        for address in (
            reverse("admin:media_job", args=[job.pk]),
            board(),
            reverse("admin:media_mediajob_changelist"),
        ):
            page.goto(live_server.url + address)
            page.wait_for_function("!document.documentElement.hasAttribute('x-cloak')")
            assert source.partition(".")[2] not in page.content()
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), address
        page.goto(live_server.url + board())
        box = page.locator(f"li[data-job='{job.pk}'] .sb-line-head a").bounding_box()
        assert box
        assert box["width"] > 20
        assert page.get_by_text("Nothing here reads files of this kind: bin.").is_visible()
        page.click(f"li[data-job='{job.pk}'] .sb-line-head a")
        pictures(page, "long-job-folded")
        assert not page.locator(".sb-json").first.is_visible()
        page.click("summary:has-text('Result')")
        page.click("summary:has-text('Options')")
        assert page.locator(".sb-json").first.is_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        pictures(page, "long-job-open")
        page.click("text=Open the document")
        assert "The plan" in page.inner_text("h2.sb-title")
        assert faults == []


def test_retrying_all_leaves_what_somebody_took_note_of(browser: Browser, live_server: Any, jobs: dict) -> None:
    with signed_in(browser, live_server.url, "ann") as (page, _):
        page.goto(live_server.url + board(state="failed"))
        page.click(f"li[data-job='{jobs['failed'].pk}'] button:text-is('Acknowledge')")
        page.click("text=Retry all 1 failed")
        page.wait_for_selector("text=1 of 1 jobs wait for a worker again.")
        expect(page.locator("text=Retry selected")).to_have_count(1)
        expect(page.locator("text=Retry all")).to_have_count(0)
    assert MediaJob.objects.get(pk=jobs["failed"].pk).status == "failed"


def test_the_keyboard_alone_acknowledges_and_cancels(browser: Browser, live_server: Any, jobs: dict) -> None:
    with signed_in(browser, live_server.url, "ann") as (page, _):
        page.goto(live_server.url + reverse("admin:media_job", args=[jobs["failed"].pk]))
        page.focus("button:text-is('Retry')")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=asks for attention no longer")
        page.goto(live_server.url + board(state="queued"))
        page.focus("button:text-is('Cancel')")
        page.keyboard.press("Space")
        page.wait_for_selector("text=The job is canceled.")
    assert MediaJob.objects.get(pk=jobs["failed"].pk).acknowledged_at
    assert MediaJob.objects.get(pk=jobs["queued"].pk).status == "canceled"


def test_the_board_follows_what_happens(browser: Browser, live_server: Any, jobs: dict) -> None:
    with signed_in(browser, live_server.url, "ann") as (page, faults):
        page.goto(live_server.url + board())
        page.evaluate("window.same = true")
        page.check(f"input[value='{jobs['failed'].pk}']")
        with unguarded():
            MediaJob.objects.filter(pk=jobs["queued"].pk).update(status="failed", error="unavailable: no converter")
        page.wait_for_selector("text=no converter")
        assert page.evaluate("window.same")
        assert page.is_checked(f"input[value='{jobs['failed'].pk}']")
        assert faults == []


def test_whoever_was_slower_is_told(browser: Browser, live_server: Any, jobs: dict) -> None:
    with signed_in(browser, live_server.url, "ann", java_script_enabled=False) as (page, _):
        page.goto(live_server.url + reverse("admin:media_job", args=[jobs["queued"].pk]))
        with unguarded():
            MediaJob.objects.filter(pk=jobs["queued"].pk).update(status="processing")
        page.click("button:text-is('Cancel')")
        page.wait_for_selector("text=Only a queued job can be canceled; this one is processing.")


@pytest.mark.parametrize("scope", ["", "project:shop"])
@pytest.mark.parametrize("script", [True, False])
def test_files_are_imported_by_choosing_them(
    browser: Browser, live_server: Any, jobs: dict, media_folder: Path, pictures: Any, script: bool, scope: str
) -> None:
    files = [
        {"name": "计划.md", "mimeType": "text/markdown", "buffer": "# 计划\n\n斑马".encode()},
        {"name": "b.md", "mimeType": "text/markdown", "buffer": b"# Other"},
    ]
    with signed_in(browser, live_server.url, "ann", java_script_enabled=script) as (page, faults):
        page.goto(live_server.url + board())
        page.set_input_files("input[type=file]", files)  # type: ignore[arg-type]
        assert page.input_value("input[name=scope]") == ""
        if scope:
            page.fill("input[name=scope]", scope)
        pictures(page, f"chosen-{'script' if script else 'plain'}")
        page.focus("button:text-is('Import')")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=计划.md: waits for a worker." if script else "text=2 files wait for a worker.")
        page.wait_for_selector("li[data-job] >> text=计划.md")
        pictures(page, f"imported-{'script' if script else 'plain'}")
        assert faults == []
    made = MediaJob.objects.filter(owner_name="ann").order_by("id")
    assert [row.options["name"] for row in made] == ["计划.md", "b.md"]
    assert {tuple(row.scopes) for row in made} == {tuple(filter(None, [scope]))}


DROP = """names => {
    const data = new DataTransfer();
    names.forEach(name => data.items.add(new File([name.startsWith('large') ? 'x'.repeat(200) : '# Small'], name)));
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


def test_a_list_that_does_not_come_is_told_and_the_next_drop_is_taken(
    browser: Browser, live_server: Any, jobs: dict, media_folder: Path
) -> None:
    with signed_in(browser, live_server.url, "ann") as (page, _):
        page.goto(live_server.url + board())
        page.route(f"**{board()}", lambda route: route.abort())
        page.evaluate(DROP, ["first.md"])
        page.wait_for_selector("text=first.md: waits for a worker.")
        page.wait_for_selector("text=the list is not up to date: reload the page.")
        page.unroute(f"**{board()}")
        assert page.locator("form[data-upload] button[type=submit]").is_enabled()
        page.evaluate(DROP, ["second.md"])
        page.wait_for_selector("text=second.md: waits for a worker.")
        page.wait_for_selector("li[data-job] >> text=second.md")
        expect(page.locator("text=the list is not up to date")).to_have_count(0)
    assert MediaJob.objects.filter(owner_name="ann").count() == 2


def test_what_went_wrong_stays_while_the_next_files_are_sent(
    browser: Browser, live_server: Any, jobs: dict, media_folder: Path, set_conf: Any
) -> None:
    set_conf(media_max_bytes=100)
    refused = "large.md: The file has 200 bytes; 100 at most."
    with signed_in(browser, live_server.url, "ann") as (page, _):
        page.goto(live_server.url + board())
        page.evaluate(f"() => {{ const drop = {DROP}; drop(['large.md']); drop(['after.md']); }}")
        page.wait_for_selector("text=after.md: waits for a worker.")
        assert page.get_by_text(refused).is_visible()


def test_files_are_dropped_anywhere_on_the_page_and_a_refusal_is_said(
    browser: Browser, live_server: Any, jobs: dict, media_folder: Path, set_conf: Any
) -> None:
    set_conf(media_max_bytes=100)
    drop = """() => {
        const data = new DataTransfer();
        data.items.add(new File(['# Small'], 'small.md'));
        data.items.add(new File(['x'.repeat(200)], 'large.md'));
        const init = { dataTransfer: data, bubbles: true, cancelable: true };
        const tabs = document.querySelector('.sb-tabs');
        return [tabs.dispatchEvent(new DragEvent('dragover', init)), tabs.dispatchEvent(new DragEvent('drop', init))];
    }"""
    watch = """() => {
        window.bars = new Map();
        const note = bar => window.bars.set(bar, (window.bars.get(bar) || []).concat(bar.value));
        const seen = node => node.querySelectorAll?.('progress').forEach(bar => {
            note(bar);
            new MutationObserver(() => note(bar)).observe(bar, { attributes: true });
        });
        new MutationObserver(all => all.forEach(each => each.addedNodes.forEach(seen)))
            .observe(document.querySelector('[data-progress]'), { childList: true, subtree: true });
    }"""
    with signed_in(browser, live_server.url, "ann") as (page, _):
        page.goto(live_server.url + board())
        page.evaluate(watch)
        assert page.evaluate(drop) == [False, False]  # so the browser does not leave the page
        page.wait_for_selector("text=small.md: waits for a worker.")
        page.wait_for_selector("text=large.md: The file has 200 bytes; 100 at most.")
        grown = page.evaluate("[...window.bars.values()].filter(values => values.at(-1) > values[0]).length")
        assert grown == 2
    assert MediaJob.objects.filter(owner_name="ann").count() == 1
