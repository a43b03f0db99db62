// A file name as a word of a command that a person copies, quoted so that a shell takes it as one word whatever it
// contains: as core/base/shell_words.h does, which quotes the names that come from the program.

const PLAIN = /^[\w@%+:,./-][\w@%+=:,./-]*$/;
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

export function shellFile(name: string): string {
  const file = name.length > 1 && name.startsWith("-") ? `./${name}` : name;
  if (PLAIN.test(file)) return file;
  if (!CONTROL.test(file)) return `'${file.replaceAll("'", "'\\''")}'`;
  return `$'${[...file].map(escaped).join("")}'`;
}

function escaped(character: string): string {
  if (character === "'" || character === "\\") return `\\${character}`;
  if (!CONTROL.test(character)) return character;
  return [...new TextEncoder().encode(character)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
}
