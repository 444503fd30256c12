/** Colours as rexmit's printed figures have them (python/rexmit/figures/style.py): Okabe and Ito's palette, which the
 * colour-blind tell apart; black and grey is what is ordinary, colour what went wrong. */

import { type Hue, lookOf } from "../data/looks";
import type { Marker } from "./surface";

export interface Palette {
  dark: boolean;
  background: string;
  panel: string;
  ink: string;
  soft: string;
  faint: string;
  grid: string;
  axis: string;
  ack: string;
  edge: string;
  sack: string;
  lost: string;
  blue: string;
  episode: [string, string];
  episodeText: string;
  outage: string;
  outageDoubt: string;
  select: string;
  selectBand: string;
  markerEdge: string;
  hues: Record<Hue, string>;
}

export const LIGHT: Palette = {
  dark: false,
  background: "#ffffff",
  panel: "#ffffff",
  ink: "#1b1e23",
  soft: "#565c66",
  faint: "#8a8a8a",
  grid: "#ececec",
  axis: "#9a9fa6",
  ack: "#009E73",
  edge: "#b5a0ad",
  sack: "#a6d5f2",
  lost: "#D55E00",
  blue: "#0072B2",
  episode: ["#f8f0df", "#f1e4c6"],
  episodeText: "#6b4e16",
  outage: "#9aa5b1",
  outageDoubt: "rgba(154,165,177,0.18)",
  select: "#c2185b",
  selectBand: "rgba(194,24,91,0.10)",
  markerEdge: "#ffffff",
  hues: {
    black: "#222222",
    grey: "#8a8a8a",
    blue: "#0072B2",
    sky: "#56B4E9",
    green: "#009E73",
    orange: "#E69F00",
    red: "#D55E00",
    purple: "#CC79A7",
    yellow: "#d6c81a",
    brown: "#8f3b00",
  },
};

export const DARK: Palette = {
  dark: true,
  background: "#15181c",
  panel: "#15181c",
  ink: "#e6e8eb",
  soft: "#a5acb5",
  faint: "#7d848d",
  grid: "#262b31",
  axis: "#59616b",
  ack: "#20b98d",
  edge: "#7a6a75",
  sack: "#245878",
  lost: "#ff7a1f",
  blue: "#3d9fe0",
  episode: ["#2a2417", "#352c19"],
  episodeText: "#e2c88f",
  outage: "#76818d",
  outageDoubt: "rgba(118,129,141,0.22)",
  select: "#ff6fa3",
  selectBand: "rgba(255,111,163,0.16)",
  markerEdge: "#15181c",
  hues: {
    black: "#c9cdd2",
    grey: "#8f959c",
    blue: "#3d9fe0",
    sky: "#7cc8f2",
    green: "#20b98d",
    orange: "#E69F00",
    red: "#f26b0f",
    purple: "#d98db8",
    yellow: "#F0E442",
    brown: "#b5622b",
  },
};

/** The colour of a value of a closed set. */
export function hueOf(palette: Palette, set: string, name: string): string {
  const hue = lookOf(set, name)?.colour;
  return hue === undefined ? palette.faint : palette.hues[hue];
}

export function markerOf(cause: string): Marker {
  return lookOf("cause", cause)?.marker ?? "hexagon";
}

/** The rim of a cause's marker: yellow on white needs a darker one to be seen. */
export function edgeOf(palette: Palette, cause: string): string {
  return lookOf("cause", cause)?.colour === "yellow" ? palette.soft : palette.markerEdge;
}

/** Black or white, whichever is read better on a colour written #rrggbb (WCAG's relative luminance). */
export function inkOn(colour: string): string {
  const channel = (at: number): number => {
    const value = parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  const luminance = 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
  return luminance > 0.179 ? "#111111" : "#ffffff";
}
