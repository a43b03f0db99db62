// The menu that saves a picture as SVG or PNG. Both come from the same drawing; the PNG has two pixels per css pixel.

import { useState } from "preact/hooks";
import { pictureFile, type Caption } from "../../draw/picture.ts";
import { DARK, LIGHT } from "../../draw/theme.ts";
import { download, fileName } from "../parts/download.ts";
import { SaveMenu, type SaveAction } from "../page/save_menu.tsx";
import { inTheme, useTheme } from "../page/theme_switch.tsx";
import { measureText } from "./canvas_pictures.ts";
import { pictureOf } from "./dom_picture.ts";

const PIXELS = 2; // per css pixel

interface Props {
  /** What to save; null: it is not on the page. */
  element: () => Element | null;
  caption: () => Caption;
}

export function PictureMenu({ element, caption }: Props) {
  const isDark = useTheme() === "dark";
  const [light, setLight] = useState(false);
  const svg = async (): Promise<string> => {
    const theme = isDark && !light ? "dark" : "light";
    return inTheme(theme, () => {
      const root = element();
      if (root === null) throw new Error("there is nothing to save yet");
      const colors = theme === "dark" ? DARK : LIGHT;
      return pictureFile(pictureOf(root, colors), caption(), colors, measureText);
    });
  };
  const name = (ending: string) => fileName(caption().recording, caption().title, ending);
  const actions: SaveAction[] = [
    {
      label: "Save SVG",
      title: "Vector picture; text stays text",
      run: async () => {
        download([await svg()], "image/svg+xml", name("svg"));
        return "Saved";
      },
    },
    {
      label: "Save PNG",
      title: `Image with ${PIXELS} pixels per pixel of the page`,
      run: async () => {
        download([await pngOf(await svg())], "image/png", name("png"));
        return "Saved";
      },
    },
  ];
  return (
    <SaveMenu about={`picture: ${caption().title}`} actions={actions}>
      {isDark && (
        <label>
          <input type="checkbox" checked={light} onChange={(event) => setLight(event.currentTarget.checked)} /> Light
          theme
        </label>
      )}
    </SaveMenu>
  );
}

async function pngOf(svg: string): Promise<Blob> {
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth * PIXELS;
    canvas.height = image.naturalHeight * PIXELS;
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    const png = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
    if (png === null)
      throw new Error(`the browser cannot make an image of ${canvas.width} x ${canvas.height} pixels; save it as SVG`);
    return png;
  } finally {
    URL.revokeObjectURL(address);
  }
}
