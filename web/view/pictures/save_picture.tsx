// The menu that saves the section around it as a picture. The recording comes from the page, so that a chart gets the
// menu by one line.

import { createContext } from "preact";
import { useContext, useRef } from "preact/hooks";
import type { Viewer } from "../../model/page/viewer.ts";
import { reportCaption } from "./caption.ts";
import { PictureMenu } from "./picture_menu.tsx";

/** The recording that the page shows. */
export const Pictured = createContext<Viewer | null>(null);

interface Props {
  title: string;
  about?: string; // what its values are, where the heading says it
}

export function SavePicture({ title, about = "" }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const viewer = useContext(Pictured);
  if (viewer === null) return null;
  const kernel = () => place.current?.closest(".kernel")?.querySelector("h1")?.textContent ?? null;
  return (
    <div class="save-picture" ref={place}>
      <PictureMenu
        element={() => place.current?.closest("section") ?? null}
        caption={() => reportCaption(viewer, title, kernel(), about)}
      />
    </div>
  );
}
