from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("legacy", "0003_targets_by_id"),
    ]

    operations = [
        migrations.AddField(
            model_name="migrationrun",
            name="origins",
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name="migrationrun",
            name="owner_id",
            field=models.CharField(blank=True, default="", max_length=64),
        ),
    ]
