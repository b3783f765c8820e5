from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("media", "0003_place_of_jobs")]

    operations = [
        migrations.AlterModelOptions("sourcedocument", {"ordering": ["-id"], "verbose_name": "document"}),
        migrations.RemoveConstraint(model_name="topic", name="research_topics_unique"),
        migrations.AddField("topic", "owner_id", models.CharField(default="", max_length=64), preserve_default=False),
        migrations.AddField(
            "topic", "owner_name", models.CharField(default="", max_length=150), preserve_default=False
        ),
        migrations.AddConstraint(
            "topic",
            models.UniqueConstraint(fields=("domain", "owner_id", "folded"), name="research_topics_unique"),
        ),
    ]
