from django.db import migrations, models

import kernel.db


class Migration(migrations.Migration):
    dependencies = [
        ("legacy", "0005_one_run"),
    ]

    operations = [
        migrations.AddField(
            model_name="migratedrow",
            name="stored",
            field=kernel.db.JSONField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="migratedrow",
            name="part_of",
            field=models.CharField(blank=True, default="", max_length=64),
        ),
        migrations.AddField(
            model_name="migratedrow",
            name="receipt_id",
            field=models.UUIDField(blank=True, null=True),
        ),
    ]
