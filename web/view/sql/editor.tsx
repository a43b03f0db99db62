// The SQL box: text with completion. While words are offered, arrow keys choose one, Tab or Enter takes it and Escape
// closes the list; otherwise Tab leaves the box as usual. Ctrl + Enter runs.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { completeSql, type Completion } from "../../model/search/sql_completion.ts";
import type { SqlSchema } from "../../read/sql_client.ts";

const LIST = "sql-words";

interface Props {
  schema: SqlSchema;
  text: string;
  onText: (text: string) => void;
  onRun: () => void;
}

export function Editor({ schema, text, onText, onRun }: Props) {
  const box = useRef<HTMLTextAreaElement>(null);
  const [offered, setOffered] = useState<Completion | null>(null);
  const [active, setActive] = useState(0);
  const cursorAfter = useRef<number | null>(null); // once the text is drawn
  useLayoutEffect(() => {
    if (cursorAfter.current === null) return;
    box.current!.setSelectionRange(cursorAfter.current, cursorAfter.current);
    cursorAfter.current = null;
  }, [text]);

  useLayoutEffect(() => {
    if (matchMedia("(pointer: fine)").matches) box.current!.focus(); // a touch screen would show its keyboard
  }, []);
  const offer = (target: HTMLTextAreaElement) => {
    onText(target.value);
    setOffered(completeSql(schema, target.value, target.selectionStart));
    setActive(0);
  };
  const take = (word: string) => {
    const end = box.current!.selectionStart;
    const begin = offered!.from;
    cursorAfter.current = begin + word.length;
    onText(text.slice(0, begin) + word + text.slice(end));
    setOffered(null);
    box.current!.focus();
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      setOffered(null);
      onRun();
    } else if (offered === null) return;
    else if (event.key === "Escape") setOffered(null);
    else if (event.key === "Tab" || event.key === "Enter") take(offered.words[active]!.text);
    else if (event.key === "ArrowDown" || event.key === "ArrowUp")
      setActive((active + (event.key === "ArrowDown" ? 1 : offered.words.length - 1)) % offered.words.length);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const option = (word: string, at: number) => ({
    id: `${LIST}-${at}`,
    role: "option" as const,
    "aria-selected": at === active,
    onPointerDown(event: PointerEvent) {
      event.preventDefault();
      take(word);
    },
  });
  return (
    <div class="editor">
      <textarea
        ref={box}
        rows={5}
        aria-label="SQL"
        aria-autocomplete="list"
        aria-controls={offered === null ? undefined : LIST}
        aria-activedescendant={offered === null ? undefined : `${LIST}-${active}`}
        spellcheck={false}
        value={text}
        placeholder="SELECT name, count(*), sum(dur_ns) FROM kernel GROUP BY name"
        onInput={(event) => offer(event.currentTarget)}
        onKeyDown={press}
        onBlur={() => setOffered(null)}
      />
      {offered !== null && (
        <ul id={LIST} role="listbox" aria-label="Completions">
          {offered.words.map(({ text: word, doc }, i) => (
            <li key={word} {...option(word, i)}>
              <code>{word}</code> <small>{doc}</small>
            </li>
          ))}
        </ul>
      )}
      <span class="spoken" role="status">
        {offered !== null && `${offered.words[active]!.text}, ${active + 1} of ${offered.words.length}`}
      </span>
    </div>
  );
}
