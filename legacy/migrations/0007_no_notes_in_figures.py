from django.db import migrations


def drop_notes(apps, schema_editor):
    """Figures of runs before now quote rows in the notes of those that stayed as they were."""
    runs = apps.get_model("legacy", "MigrationRun")
    for run in runs.objects.all():
        kept = run.figures.get("kept", [])
        if kept:
            run.figures["kept"] = [{name: each[name] for name in each if name != "note"} for each in kept]
            run.save(update_fields=("figures",))


class Migration(migrations.Migration):
    dependencies = [
        ("legacy", "0006_since"),
    ]

    operations = [
        migrations.RunPython(drop_notes, migrations.RunPython.noop),
    ]
