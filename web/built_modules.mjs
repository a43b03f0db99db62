// Modules that the bundler makes of other files of the repository. A file that cannot be read whole is an error of the
// build.
//
//     import recipes from "sql-cookbook"      {question, sql} of each recipe of the SQL cookbook
//     import libraries from "library-frames"  {how, text}: where Python frames of libraries are from

import { readFileSync } from "node:fs";

const FILES = {
  "sql-cookbook": { path: "docs/guides/sql-cookbook.md", read: (text) => entries(text, /^\*\*\d+\. (.+)\*\*\s+```sh\n\$ gpu-profile query \S+ "([^"]+)"\n```$/gm, /^\*\*\d+\. /gm).map(([question, sql]) => ({ question, sql })) },
  "library-frames": { path: "core/schema/library_frames.def", read: (text) => entries(text, /^ +FRAME\((starts|contains), "([^"\\]+)"\)/gm, /^ +FRAME\(/gm).map(([how, text]) => ({ how, text })) },
};

/** The groups of each match of an entry; there are as many as beginnings of one. */
function entries(text, entry, begin) {
  const found = [...text.matchAll(entry)].map(([, ...groups]) => groups);
  const begun = text.match(begin)?.length ?? 0;
  if (found.length === 0 || found.length !== begun) throw new Error(`${found.length} of ${begun} entries can be read`);
  return found;
}

export const builtModules = {
  name: "built modules",
  setup(build) {
    build.onResolve({ filter: new RegExp(`^(${Object.keys(FILES).join("|")})$`) }, ({ path }) => ({ path, namespace: "built" }));
    build.onLoad({ filter: /.*/, namespace: "built" }, ({ path }) => {
      const file = new URL(`../${FILES[path].path}`, import.meta.url).pathname;
      try {
        return { contents: JSON.stringify(FILES[path].read(readFileSync(file, "utf8"))), loader: "json" };
      } catch (error) {
        throw new Error(`${file}: ${error.message}`);
      }
    });
  },
};
