// Saves bytes as a file through the browser, without any request.

export function download(parts: readonly BlobPart[], type: string, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([...parts], { type }));
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** "run1 kernels.csv": the recording without its endings, and what is saved. */
export function fileName(recording: string, what: string, ending: string): string {
  const base = recording.split("/").pop()!.replace(/\.(gz|zst)$/, "").replace(/\.\w{1,8}$/, "");
  const safe = `${base} ${what}`.replace(/[^\p{L}\p{N} ._-]+/gu, "_").trim().slice(0, 120);
  return `${safe || what}.${ending}`;
}
