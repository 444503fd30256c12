/** The packets of a selection as CSV. */

import type { Store } from "../data/store";
import { count } from "../draw/units";
import { partFrom } from "../view/parts";
import type { Selection } from "../view/selection";
import { CSV_HEAD, csvLines } from "./write";

/** Packets of one file: what a page can hold as text. */
const MOST_SAVED = 1_000_000;

/** As parts of a file. Throws an Error that says what to do where the packets cannot be had. */
export async function csvOf(store: Store, of: Selection): Promise<string[]> {
  const { data } = of;
  if (of.packet !== null) {
    const found = data.find(of.packet);
    if (found === null) throw new Error(`packet ${of.packet} is not here: select it again`);
    return [CSV_HEAD, csvLines(found.packets, [found.row, found.row + 1])];
  }
  const lines = [CSV_HEAD];
  let saved = 0;
  for (let from: number | null = of.from; from !== null; ) {
    const part = await partFrom(store, data, from, of.to);
    if (part === null || part.short === true) throw new Error(`this report does not hold every packet of ${of.words}: zoom in, or select less`);
    saved += part.rows[1] - part.rows[0];
    if (saved > MOST_SAVED) throw new Error(`${of.words}: more than ${count(MOST_SAVED, "packet")}: select less`);
    lines.push(csvLines(part.packets, part.rows));
    from = part.next;
  }
  return lines;
}
