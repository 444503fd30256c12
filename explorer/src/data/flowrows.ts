/** The table of flows: which are shown, in which order, under which pair of hosts. */

import type { FlowColumns } from "./meta";

export type FlowKey = keyof FlowColumns;

export interface Asked {
  text: string;
  by: FlowKey;
  descending: boolean;
  grouped: boolean;
}

/** A row of the table: a flow (its place in the columns), or the head of a pair of hosts. */
export type TableRow = { place: number } | { pair: string; flows: number[] };

export function tableRows(columns: FlowColumns, { text, by, descending, grouped }: Asked): TableRow[] {
  const places = matching(columns, text);
  const key = columns[by];
  places.sort((a, b) => compare(key[a], key[b], descending) || columns.rank[a] - columns.rank[b]);
  if (!grouped) return places.map((place) => ({ place }));
  const pairs = new Map<string, number[]>();
  for (const place of places) {
    const pair = pairOf(columns.sender[place], columns.receiver[place]);
    const flows = pairs.get(pair);
    if (flows === undefined) pairs.set(pair, [place]);
    else flows.push(place);
  }
  return [...pairs].flatMap(([pair, flows]): TableRow[] => [{ pair, flows }, ...flows.map((place) => ({ place }))]);
}

/** All words of the text stand in the addresses, or one is the number of the flow, from 1. */
function matching(columns: FlowColumns, text: string): number[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found: number[] = [];
  for (let place = 0; place < columns.flow.length; place++) {
    const ends = `${columns.sender[place]} ${columns.receiver[place]} ${columns.cause[place] ?? ""}`.toLowerCase();
    if (words.every((word) => ends.includes(word) || String(columns.flow[place] + 1) === word)) found.push(place);
  }
  return found;
}

/** What is unknown stands last, whichever the order. */
function compare(a: number | string | null, b: number | string | null, descending: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const order =
    typeof a === "number" && typeof b === "number" ? a - b : String(a) < String(b) ? -1 : Number(String(a) > String(b));
  return descending ? -order : order;
}

/** The two hosts, whichever sends. */
export function pairOf(sender: string, receiver: string): string {
  const host = (end: string): string => end.slice(0, Math.max(0, end.lastIndexOf(":"))) || end;
  return [host(sender), host(receiver)].sort().join(" ↔ ");
}
