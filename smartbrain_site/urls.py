"""Where every page and endpoint lives."""

from __future__ import annotations

from django.contrib import admin
from django.urls import path, re_path
from django.views.generic import RedirectView

from governance.signin import pages
from kernel.actions import all_actions
from media.views import download, show_picture
from smartbrain_site.http.downloads import ContentView
from smartbrain_site.http.media import STEPS, JobStepView, JobView, MediaView
from smartbrain_site.http.views import ActionView, DocsView, HealthView, ResourceView, SchemaView, UnknownView

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index"), name="front"),
    path("admin/second-factor/", pages.verify, name="second_factor"),
    path("admin/second-factor/setup/", pages.setup, name="second_factor_setup"),
    path("admin/documents/<uuid:document_id>/file", admin.site.admin_view(download), name="document_file"),
    path("admin/documents/<uuid:document_id>/picture", admin.site.admin_view(show_picture), name="document_picture"),
    path("admin/", admin.site.urls),
    path("healthz", HealthView.as_view(), name="healthz"),
    path("v1/schema/", SchemaView.as_view(), name="schema"),
    path("v1/docs/", DocsView.as_view(), name="docs"),
    *[path(f"v1/{action.name}", ActionView.as_view(calls=action), name=action.name) for action in all_actions()],
    *[
        path(f"v1/{action.resource}", ResourceView.as_view(calls=action), name=f"resource-{action.resource}")
        for action in all_actions()
        if action.resource
    ],
    path("v1/media", MediaView.as_view(), name="media"),
    path("v1/media/jobs/<str:job_id>", JobView.as_view(), name="media-job"),
    *[
        path(f"v1/media/jobs/<str:job_id>/{step}", JobStepView.as_view(calls=action), name=f"media-job-{step}")
        for step, action in STEPS.items()
    ],
    path("v1/documents/<uuid:document_id>/content", ContentView.as_view(), name="document_content"),
    re_path(r"^v1(/.*)?$", UnknownView.as_view(), name="unknown"),
]
