// How the drawer below the timeline shows the events of the measured range.

export const DRAWER_VIEWS = ["tables", "flame"] as const;
export type DrawerView = (typeof DRAWER_VIEWS)[number];

export interface Drawer {
  view: DrawerView;
  open: boolean;
  whole: readonly string[]; // titles of tables that show all their rows
}

export const USUAL_DRAWER: Drawer = { view: "tables", open: true, whole: [] };

/** Each choice as text, for the address. */
export function drawerTexts({ view, open, whole }: Drawer): string[] {
  const shown = view === USUAL_DRAWER.view ? [] : [view];
  return [...shown, ...(open ? [] : ["hidden"]), ...whole.map((title) => `all:${title}`)];
}

export const readDrawer = (texts: readonly string[]): Drawer => ({
  view: DRAWER_VIEWS.find((view) => texts.includes(view)) ?? USUAL_DRAWER.view,
  open: !texts.includes("hidden"),
  whole: texts.filter((text) => text.startsWith("all:")).map((text) => text.slice("all:".length)),
});
