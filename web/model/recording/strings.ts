// One number for each distinct string of the document, so that chunks with separate dictionaries can be compared and
// coloured by number.

export class Strings {
  private readonly ids = new Map<string, number>();
  private readonly texts: string[] = [];

  /** The number of a text; a new text gets the next one. */
  intern(text: string): number {
    let id = this.ids.get(text);
    if (id === undefined) {
      id = this.texts.push(text) - 1;
      this.ids.set(text, id);
    }
    return id;
  }

  idOf(text: string): number | undefined {
    return this.ids.get(text);
  }

  textOf(id: number): string {
    return this.texts[id] ?? "";
  }
}
