// A sentence whose numbers stay on one line with their units, and options in one piece.

const NUMBER = /(--[a-z][a-z-]*|[+−-]?\d[\d.,]* (?:%|ns|us|ms|s|h|W|J|[kMGTPE]?(?:i?B|Hz|FLOP)(?:\/s)?)(?![\w]))/;

export const unbroken = (text: string) =>
  text.split(NUMBER).map((part, i) => (i % 2 === 0 ? part : <span key={i} class="unbroken">{part}</span>));
