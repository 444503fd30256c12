/** Keys of the panels. They work while the panels have the focus, so that they take no letter from anything
 * else (WCAG 2.1.4). */

import * as app from "./app";

export const KEYS: [string, string][] = [
  ["n p", "next, previous episode"],
  ["f", "fit: everything in view"],
  ["Backspace", "back to the view before"],
  ["+ −", "zoom in, out"],
  ["← →", "move"],
  ["l", "ladder of the episode"],
  ["s", "select the time in view: CSV is of it"],
  ["Esc", "nothing selected"],
];

const ACTS: Record<string, (across: boolean) => void> = {
  n: (across) => app.stepEpisode(1, across),
  p: (across) => app.stepEpisode(-1, across),
  f: () => app.fit(),
  l: (across) => {
    const of = across ? app.other.value : app.named.value;
    const known = across === app.place.value.across ? app.place.value.episode : null;
    const episode = known ?? of?.data.detail.episodes[0]?.number;
    if (of !== null && episode !== undefined) app.openLadder(of, episode);
  },
  "+": () => app.zoom(0.5),
  "=": () => app.zoom(0.5),
  "-": () => app.zoom(2),
  ArrowLeft: () => app.pan(-0.15),
  ArrowRight: () => app.pan(0.15),
  ArrowUp: () => app.zoom(0.7),
  ArrowDown: () => app.zoom(1 / 0.7),
  Backspace: () => void app.back(),
  s: (across) => app.pickView(across),
  Escape: () => app.change({ packet: null, picked: null, episode: null, across: false }),
};

/** across: of the panels of what stands beside. */
export function onKey(event: KeyboardEvent, across: boolean): void {
  if (event.ctrlKey || event.metaKey) return;
  if (event.altKey) {
    // Without a view to go back to, the browser goes back itself.
    if (event.key === "ArrowLeft" && app.back()) event.preventDefault();
    return;
  }
  const act = ACTS[event.key];
  if (act !== undefined) {
    event.preventDefault();
    act(across);
  }
}
