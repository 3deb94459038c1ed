// Lints an OpenAPI document by the recommended rules of Redocly, as `redocly lint` does.
// Argument: the document. Prints what it found, as JSON.
import { createConfig, lint } from "@redocly/openapi-core";

const config = await createConfig({ extends: ["recommended"] });
const problems = await lint({ ref: process.argv[2], config });
console.log(
  JSON.stringify(
    problems.map(({ ruleId, severity, message, location }) => [severity, ruleId, message, location[0]?.pointer]),
  ),
);
