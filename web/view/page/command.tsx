// A command line that wraps only between words where possible.

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
