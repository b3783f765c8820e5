"use strict";

// Our own, because the one of drf-spectacular sets a CSRF cookie that a door with bearer keys does not need.
SwaggerUIBundle({
  ...{{ settings|safe }},
  url: "{{ schema_url|escapejs }}",
  dom_id: "#swagger-ui",
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
});
