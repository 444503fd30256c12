/** How the values of closed sets look, as the data of the page has them (META.looks of FORMAT.md). */

import type { Marker } from "../draw/surface";

/** Colours by name; each palette has a shade of each. */
export type Hue = "black" | "grey" | "blue" | "sky" | "green" | "orange" | "red" | "brown" | "purple" | "yellow";

export interface Look {
  colour: Hue;
  /** What the value belongs to, such as "timer". */
  group: string;
  /** Of causes only. */
  marker?: Marker;
}

/** By set and value, in the order in which values are listed. */
export type Looks = Record<string, Record<string, Look>>;

let looks: Looks = {};

/** Before anything is drawn. */
export function setLooks(told: Looks): void {
  looks = told;
}

export function lookOf(set: string, name: string): Look | undefined {
  return looks[set]?.[name];
}

export function namesOf(set: string): string[] {
  return Object.keys(looks[set] ?? {});
}
