/** Draws a ladder: data to the right, ACKs to the left, time downwards. */

import { hueOf, type Palette } from "../draw/palette";
import type { Surface } from "../draw/surface";
import { seconds } from "../draw/units";
import { CHARACTER, LABEL_LINE, type Layout, type Spot } from "./layout";
import { isFolded, labelOf, remarkOf, type Step } from "./steps";

export const HEAD = 30;
const TIME = 74;
/** Where labels stand above their arrows: room for times, and beyond the other host. */
const NARROW_TIME = 54;
const NARROW_RIGHT = 12;
/** Narrower than this they do. */
const NARROW = 690;
/** How far a lost packet gets, of the way. */
const LOST_AT = 0.62;
const MARGIN = 40;
/** Labels nearer than this would cover each other. */
const LABEL_GAP = 13;

export interface Look {
  sender: string;
  receiver: string;
  /** Pixels above the part that is drawn. */
  offset: number;
  selected: Step | null;
  proves: ReadonlySet<Step>;
  words: (cause: string) => string;
}

export interface Sides {
  left: number;
  right: number;
}

/** How wide labels above their arrows may be; null where there is room for them outside. */
export function roomOf(width: number): number | null {
  return width < NARROW ? Math.max(120, width - NARROW_TIME - NARROW_RIGHT - 12) : null;
}

/** Labels have the room that they need, and the arrows at least a quarter of the width. */
export function sidesOf(width: number, { longest, narrow }: Layout): Sides {
  if (narrow) return { left: NARROW_TIME, right: width - NARROW_RIGHT };
  const left = Math.max(110, Math.min(longest.data * CHARACTER + 40, width * 0.3));
  const right = Math.max(190, Math.min(longest.back * CHARACTER + 30, width * 0.45 - TIME));
  return { left: TIME + left, right: width - right };
}

export function drawLadder(s: Surface, palette: Palette, layout: Layout, look: Look): void {
  const { left, right } = sidesOf(s.width, layout);
  s.rect(0, 0, s.width, s.height, palette.background);
  s.clip(0, HEAD, s.width, s.height - HEAD, () => {
    const y = (at: number): number => at + HEAD - look.offset;
    const seen = layout.spots.filter((spot) => {
      const low = Math.min(spot.leaves, spot.label) - MARGIN;
      const high = Math.max(spot.lastArrives, spot.label) + MARGIN;
      return y(high) >= HEAD && y(low) <= s.height;
    });
    for (const spot of seen) highlight(s, palette, spot, look, y);
    const end = Math.min(s.height, y(layout.height));
    for (const side of [left, right]) s.line(side, HEAD, side, end, palette.ink, 1.4);
    for (const spot of seen) {
      if (spot.silence !== null) silence(s, palette, spot, y, left, right);
      arrow(s, palette, spot, y, left, right);
    }
    const taken = { left: [] as number[][], right: [] as number[][], time: [] as number[][] };
    const free = (side: number[][], at: number, half: number): boolean =>
      side.every(([other, halfOfIt]) => Math.abs(other - at) >= half + halfOfIt);
    const times = layout.narrow ? NARROW_TIME : TIME;
    for (const spot of byWeight(seen, look)) {
      const at = y(spot.label);
      const { toReceiver } = spot.step;
      const remark = toReceiver && remarkOf(spot.step, look.words) !== "";
      const half = Math.max(LABEL_GAP, spot.lines.length * LABEL_LINE) / 2;
      const outside = [...(toReceiver ? [taken.left] : []), ...(!toReceiver || remark ? [taken.right] : [])];
      const sides = layout.narrow ? [taken.left] : outside;
      if (!sides.every((side) => free(side, at, half))) continue;
      for (const side of sides) side.push([at, half]);
      if (layout.narrow) above(s, palette, spot, at, left, right);
      else words(s, palette, spot, at, left, right, look);
      if (!free(taken.time, at, LABEL_GAP / 2)) continue;
      taken.time.push([at, LABEL_GAP / 2]);
      s.text(times - 8, at, spot.step.first.toFixed(4), { colour: palette.soft, align: "right", size: 10.5 });
    }
  });
  s.rect(0, 0, s.width, HEAD, palette.background);
  if (layout.narrow) {
    const half = s.width / 2 - 8;
    s.text(6, HEAD / 2, fitting(s, look.sender, half), { colour: palette.ink, bold: true });
    s.text(s.width - 6, HEAD / 2, fitting(s, look.receiver, half), { colour: palette.ink, align: "right", bold: true });
  } else {
    s.text(left, HEAD / 2, look.sender, { colour: palette.ink, align: "center", bold: true });
    s.text(right, HEAD / 2, look.receiver, { colour: palette.ink, align: "center", bold: true });
    s.text(TIME - 8, HEAD / 2, "s", { colour: palette.soft, align: "right" });
  }
  s.line(0, HEAD - 0.5, s.width, HEAD - 0.5, palette.grid);
}

/** Where labels have no room beside each other: what is selected first, then what was lost or sent again. */
function byWeight(spots: readonly Spot[], look: Look): Spot[] {
  const weight = ({ step }: Spot): number => {
    if (step === look.selected || look.proves.has(step)) return 0;
    return step.toReceiver && remarkOf(step, look.words) !== "" ? 1 : 2;
  };
  return [...spots].sort((a, b) => weight(a) - weight(b));
}

function highlight(s: Surface, palette: Palette, spot: Spot, look: Look, y: (at: number) => number): void {
  const chosen = spot.step === look.selected;
  if (!chosen && !look.proves.has(spot.step)) return;
  const half = Math.max(8, (spot.lines.length * LABEL_LINE) / 2);
  const top = Math.min(y(spot.leaves), y(spot.label) - half) - 2;
  const bottom = Math.max(y(spot.lastArrives), y(spot.label) + half) + 2;
  s.rect(0, top, s.width, bottom - top, chosen ? palette.episode[1] : palette.dark ? "#16303f" : "#e4f2fb");
}

export function colourOf(step: Step, palette: Palette): string {
  if (step.kind === "repair") return hueOf(palette, "cause", step.cause);
  if (step.lost) return palette.lost;
  if (step.toReceiver) return palette.ink;
  return step.kind === "dsack" ? palette.hues.purple : palette.ack;
}

function arrow(
  s: Surface,
  palette: Palette,
  spot: Spot,
  y: (at: number) => number,
  left: number,
  right: number,
): void {
  const { step } = spot;
  const colour = colourOf(step, palette);
  const [from, to] = step.toReceiver ? [left, right] : [right, left];
  const reach = step.lost ? from + (to - from) * LOST_AT : to;
  const at = (a: number, b: number): number => y(a + (b - a) * (step.lost ? LOST_AT : 1));
  const first: [number, number] = [y(spot.leaves), at(spot.leaves, spot.arrives)];
  const last: [number, number] = [y(spot.lastLeaves), at(spot.lastLeaves, spot.lastArrives)];
  if (isFolded(step)) {
    s.polygon([from, first[0], reach, first[1], reach, last[1], from, last[0]], faded(colour));
    s.line(from, last[0], reach, last[1], colour, 1.1);
    head(s, colour, from, last[0], reach, last[1], step.lost);
  }
  const repair = step.kind === "repair";
  s.line(from, first[0], reach, first[1], colour, repair ? 1.8 : 1.1);
  head(s, colour, from, first[0], reach, first[1], step.lost);
  if (step.needless) s.markers("ring", [to, first[1]], 5.5, palette.ink, palette.ink);
}

function head(s: Surface, colour: string, x1: number, y1: number, x2: number, y2: number, lost: boolean): void {
  if (lost) {
    s.markers("cross", [x2, y2], 4.5, colour, colour);
    return;
  }
  const angle = Math.atan2(y2 - y1, x2 - x1);
  const wing = (turn: number): [number, number] => [
    x2 - 9 * Math.cos(angle + turn),
    y2 - 9 * Math.sin(angle + turn),
  ];
  s.polygon([x2, y2, ...wing(0.33), ...wing(-0.33)], colour);
}

function words(s: Surface, palette: Palette, spot: Spot, at: number, left: number, right: number, look: Look): void {
  const { step } = spot;
  const sign = isFolded(step) && step.rows.length > 1 ? "▸ " : "";
  const remark = remarkOf(step, look.words);
  const style = { size: 11 } as const;
  if (step.toReceiver) {
    const colour = step.kind === "repair" || step.lost ? palette.ink : palette.soft;
    s.text(left - 10, at, fitting(s, sign + labelOf(step), left - TIME - 14), { ...style, colour, align: "right" });
    if (remark !== "") {
      s.text(right + 10, at, remark, { ...style, colour: palette.ink, bold: step.kind === "repair" });
      s.rect(right + 2, at - 4, 4, 8, colourOf(step, palette));
    }
  } else {
    s.text(right + 10, at, fitting(s, sign + labelOf(step), s.width - right - 14), { ...style, colour: palette.ink });
  }
}

/** A label above its arrow, line by line; a remark has the colour of its cause beside it. */
function above(s: Surface, palette: Palette, spot: Spot, at: number, left: number, right: number): void {
  const { step, lines } = spot;
  const over = spot.label > spot.leaves;
  const remarked = step.kind === "repair" || step.lost || step.needless;
  lines.forEach((line, k) => {
    const y = at + (k - (lines.length - 1) / 2) * LABEL_LINE;
    const told = fitting(s, line, right - left - 12);
    const wide = s.textWidth(told, 11);
    const middle = (left + right) / 2;
    const last = remarked && step.toReceiver && k === lines.length - 1;
    if (over) s.rect(middle - wide / 2 - 3, y - LABEL_LINE / 2, wide + 6, LABEL_LINE, faded(palette.background, "cc"));
    s.text(middle, y, told, { size: 11, align: "center", colour: palette.ink, bold: last && step.kind === "repair" });
    if (last) s.rect(middle - wide / 2 - 10, y - 4, 4, 8, colourOf(step, palette));
  });
}

/** What is too long ends in an ellipsis; the table of steps has all of it. */
function fitting(s: Surface, label: string, room: number): string {
  if (s.textWidth(label) <= room) return label;
  let fits = label.length;
  while (fits > 1 && s.textWidth(label.slice(0, fits)) > room - 10) fits -= 2;
  return `${label.slice(0, fits)}…`;
}

function silence(
  s: Surface,
  palette: Palette,
  spot: Spot,
  y: (at: number) => number,
  left: number,
  right: number,
): void {
  const at = y(spot.leaves) - 17;
  const told = `no data sent for ${seconds(spot.silence ?? 0)}`;
  const middle = (left + right) / 2;
  const wide = s.textWidth(told) + 16;
  s.line(left + 6, at, middle - wide / 2, at, palette.faint, 1, [2, 4]);
  s.line(middle + wide / 2, at, right - 6, at, palette.faint, 1, [2, 4]);
  s.text(middle, at, told, { colour: palette.soft, align: "center" });
}

/** A band that what lies below it shows through. */
function faded(colour: string, share = "2a"): string {
  return /^#[0-9a-f]{6}$/i.test(colour) ? `${colour}${share}` : colour;
}
