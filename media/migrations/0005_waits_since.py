"""When a job began to wait; of those that are there, when they were asked for."""

from typing import Any

from django.db import migrations, models
from django.db.models import F

from kernel import clock


def since_asked_for(apps: Any, editor: Any) -> None:
    """A job that is there waits since it was asked for."""
    apps.get_model("media", "MediaJob").objects.update(waits_since=F("created_at"))


class Migration(migrations.Migration):
    dependencies = [("media", "0004_owners_of_topics")]

    operations = [
        migrations.AddField("mediajob", "waits_since", models.DateTimeField(default=clock.now)),
        migrations.RunPython(since_asked_for, migrations.RunPython.noop, elidable=True),
    ]
