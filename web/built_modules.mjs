// The recipes of the SQL cookbook as a module, for the bundler: `import recipes from "sql-cookbook"` is a list of
// {question, sql}. A page that does not have the form of the cookbook is an error of the build.

import { readFileSync } from "node:fs";

const COOKBOOK = new URL("../docs/guides/sql-cookbook.md", import.meta.url).pathname;
const RECIPE = /^\*\*\d+\. (.+)\*\*\s+```sh\n\$ gpu-profile query \S+ "([^"]+)"\n```$/gm;

export const recipes = {
  name: "recipes",
  setup(build) {
    build.onResolve({ filter: /^sql-cookbook$/ }, () => ({ path: COOKBOOK }));
    build.onLoad({ filter: /\/sql-cookbook\.md$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      const found = [...text.matchAll(RECIPE)].map(([, question, sql]) => ({ question, sql }));
      const numbers = text.match(/^\*\*\d+\. /gm)?.length ?? 0;
      if (found.length === 0 || found.length !== numbers) throw new Error(`${path}: ${found.length} of ${numbers} recipes can be read`);
      return { contents: JSON.stringify(found), loader: "json" };
    });
  },
};
