// A command as text that breaks between its words only, where that is possible.

export function Command({ text }: { text: string }) {
  return (
    <code>
      {text.split(" ").map((word, i) => (
        <>
          {i > 0 && " "}
          <span class="word">{word}</span>
        </>
      ))}
    </code>
  );
}
