"""What governance itself adds to the doctor."""

from __future__ import annotations

from governance.hooks import register_doctor_check
from governance.selectors.health import check_migrations, check_policy, check_queue, check_sealing

register_doctor_check("audit", check_sealing)
register_doctor_check("migrations", check_migrations)
register_doctor_check("policy", check_policy)
register_doctor_check("queue", check_queue)
