from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("governance", "0014_told"),
    ]

    operations = [
        migrations.AddField(
            model_name="proposal",
            name="weighed_as",
            field=models.CharField(blank=True, default="", max_length=80),
        ),
    ]
